"""Tools that users hold beside their derivatives: checking, looking, other libraries."""
