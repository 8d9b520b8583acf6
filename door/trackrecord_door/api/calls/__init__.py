"""What HTTP offers in its own way, where no call of `trackrecord` does it as it is."""
