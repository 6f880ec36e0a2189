"""Files that commands read and write: columns of csv and parquet files, pictures, and files that appear whole."""
