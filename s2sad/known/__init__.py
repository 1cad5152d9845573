"""What kinds are made of and asked for: lengths, spaces, samples, signatures. See kinds.py."""
