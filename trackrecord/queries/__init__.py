"""What a reader may ask of what is learnt."""
