"""Opponent models: how players act, and which hands they may hold given what they did."""
