"""Commands that show what was learnt."""
