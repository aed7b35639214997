"""From a question and the fragments found for it to an answer that shows where every sentence comes from."""
