"""The demo, small: what it says of the effect is what was planted."""


def test_the_measured_effect_covers_the_planted_one(trackrecord):
    """A fleet that follows what it is handed, beside tasks that are handed nothing."""
    ran = trackrecord("demo", "--outcomes", 4000, "--agents", 2, "--json")
    assert ran.status == 0, ran.err
    effect = ran.json["effect"]
    success = effect["measured"]["measures"][0]
    assert effect["measured"]["tasks"]["given"] + effect["measured"]["tasks"]["withheld"] == 400
    assert success["low"] <= effect["planted"] <= success["high"]
    assert success["verdict"] == "helps"
