/* A hash table from 64-bit keys (handles or hashes) to pointers. The caller holds the lock. */
#include "layer.h"

#include <stdlib.h>

/* Return a well mixed hash of two numbers (the finalizer of SplitMix64, twice). */
uint64_t mix(uint64_t seed, uint64_t value) {
    uint64_t x = seed ^ (value + 0x9E3779B97F4A7C15u + (seed << 6) + (seed >> 2));
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

uint64_t mix_bytes(uint64_t seed, const void *bytes, size_t length) {
    const unsigned char *at = bytes;
    uint64_t hash = mix(seed, length);
    for (; length >= 8; at += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        hash = mix(hash, word);
    }
    if (length > 0) {
        uint64_t word = 0;
        memcpy(&word, at, length);
        hash = mix(hash, word);
    }
    return hash;
}

static size_t place_of(const struct table *table, uint64_t key) {
    size_t mask = table->capacity - 1;
    size_t place = mix(0, key) & mask;
    while (table->entries[place].value != NULL && table->entries[place].key != key)
        place = (place + 1) & mask;
    return place;
}

void *table_get(const struct table *table, uint64_t key) {
    return table->capacity == 0 ? NULL : table->entries[place_of(table, key)].value;
}

static bool grow(struct table *table) {
    struct table larger = {.capacity = table->capacity == 0 ? 64 : table->capacity * 2, .used = table->used};
    larger.entries = calloc(larger.capacity, sizeof *larger.entries);
    if (larger.entries == NULL)
        return false;
    for (size_t i = 0; i < table->capacity; i++)
        if (table->entries[i].value != NULL)
            larger.entries[place_of(&larger, table->entries[i].key)] = table->entries[i];
    free(table->entries);
    *table = larger;
    return true;
}

/* Store `value` (not NULL) under `key` and return the previous value; if memory runs out, nothing is stored. */
void *table_put(struct table *table, uint64_t key, void *value) {
    if (table->used * 2 >= table->capacity && !grow(table))
        return NULL;
    struct entry *entry = &table->entries[place_of(table, key)];
    void *before = entry->value;
    table->used += before == NULL;
    *entry = (struct entry){key, value};
    return before;
}

/* Remove `key` and return its value. Later entries of the same run move up, so that probing still finds them. */
void *table_remove(struct table *table, uint64_t key) {
    if (table->capacity == 0)
        return NULL;
    size_t mask = table->capacity - 1;
    size_t gap = place_of(table, key);
    void *value = table->entries[gap].value;
    if (value == NULL)
        return NULL;
    table->used--;
    for (size_t i = (gap + 1) & mask; table->entries[i].value != NULL; i = (i + 1) & mask) {
        size_t home = mix(0, table->entries[i].key) & mask;
        if (((i - home) & mask) >= ((i - gap) & mask)) {
            table->entries[gap] = table->entries[i];
            gap = i;
        }
    }
    table->entries[gap].value = NULL;
    return value;
}

void table_clear(struct table *table) {
    free(table->entries);
    *table = (struct table){0};
}
