"""How a question or a change is declared once, and what its arguments and answers are made of."""
