"""Pictures of pages, drawn on the server as SVG."""
