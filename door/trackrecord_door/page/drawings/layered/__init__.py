"""Layered drawings of directed graphs: pure, for graphs of some dozens of boxes.

The method is that of Sugiyama, Tagawa and Toda (1981): circles are broken, boxes are put into
layers, each layer is ordered so that few links cross, and places follow from that. Links never run
through a box, because what passes a layer has room of its own there; so has each label.
"""
