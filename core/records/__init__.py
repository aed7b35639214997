"""What must not be lost: interactions, opinions, reviews, the seal's state, baselines. SQL stays in this package."""
