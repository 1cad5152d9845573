"""The room of modes: a Function and its Facts become a derivative. Only here is math changed."""
