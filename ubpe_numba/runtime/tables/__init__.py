"""Hash tables, tries and automata that several wings use, compiled."""
