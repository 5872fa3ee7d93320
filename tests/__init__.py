"""The tests mirror the tree; helpers that several of them share are imported from here."""
