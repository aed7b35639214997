"""Which official documents there are (``register``) and how they get here (``acquire``)."""
