"""Judging answers in process: a lesson's exercises, a bank of answers to them, and the verdict on each."""
