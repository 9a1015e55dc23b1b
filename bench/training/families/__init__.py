"""Families of linear systems, by kind; the list of all is in systems.py."""
