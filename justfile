# Each recipe is one npm script: a machine without just loses nothing.

default:
    @just --list

# Install what the lock file says
install:
    npm ci

# The pipeline on real data, then hostile guests
demo:
    npm run demo

# The embedding example of README
example:
    npm run example

# All tests, on the sources and on dist/
test:
    npm test

# Format, lint, types, generated files, architecture
check:
    npm run check

# Rewrite what the formatter would
format:
    npm run format

# Compile host/ to dist/
build:
    npm run build

# Make the generated files again
generate:
    npm run generate

# Prove that every limit trips
doctor:
    npm run doctor
