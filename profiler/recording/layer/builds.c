/* Builds: a source or binary with build options. Each is in the log once, however often the program builds it. */
#include "layer.h"

#include <stdlib.h>

/* Keyed by a hash of their inputs. They are never removed, because kernels point to them. */
static struct table builds;
static int64_t build_ids;

/* Return the one build of these inputs. Takes ownership of `headers`. The caller holds the lock. */
struct build *build_of(const char *kind, const char *sha256, bool has_source, const char *options, struct text *headers,
                       struct build **linked, size_t linked_count) {
    struct text text = {0};
    text_format(&text, ", \"kind\": \"%s\"", kind);
    if (has_source)
        text_format(&text, ", \"source\": \"program-%s.cl\"", sha256);
    else
        text_format(&text, ", \"source\": null");
    text_format(&text, sha256[0] == '\0' ? ", \"sha256\": null" : ", \"sha256\": \"%s\"", sha256);
    text_format(&text, ", \"options\": ");
    text_quoted(&text, options == NULL ? "" : options);
    if (headers != NULL && headers->length > 0) {
        text_format(&text, ", \"headers\": [");
        text_bytes(&text, headers->data, headers->length);
        text_format(&text, "]");
        text_free(headers);
    }
    uint64_t key = mix_bytes(linked_count, text.data, text.length);
    for (size_t i = 0; i < linked_count; i++)
        key = mix(key, HANDLE(linked[i]));
    struct build *build = table_get(&builds, key);
    if (build == NULL && !text.failed && (build = calloc(1, sizeof *build)) != NULL) {
        *build = (struct build){.id = -1, .described = text.data};
        if (linked_count > 0 && (build->linked = malloc(linked_count * sizeof *linked)) != NULL) {
            memcpy(build->linked, linked, linked_count * sizeof *linked);
            build->linked_count = linked_count;
        }
        table_put(&builds, key, build);
        return build;
    }
    text_free(&text);
    return build;
}

/* Return a build's id in the log; write the build first if it is not there. */
int64_t build_id(struct build *build) {
    if (build->id >= 0)
        return build->id;
    struct text linked = {0}, line = {0};
    for (size_t i = 0; i < build->linked_count; i++)
        text_format(&linked, "%s%lld", i == 0 ? "" : ", ", (long long)build_id(build->linked[i]));
    build->id = build_ids++;
    text_format(&line, "{\"record\": \"program\", \"id\": %lld", (long long)build->id);
    text_bytes(&line, build->described, strlen(build->described));
    if (build->linked_count > 0) {
        text_format(&line, ", \"linked\": [");
        text_bytes(&line, linked.data, linked.length);
        text_format(&line, "]");
    }
    text_format(&line, "}");
    log_line(&line);
    text_free(&line);
    text_free(&linked);
    return build->id;
}

void builds_forget_ids(void) {
    build_ids = 0;
    for (size_t i = 0; i < builds.capacity; i++) {
        struct build *build = builds.entries[i].value;
        if (build == NULL)
            continue;
        build->id = -1;
        for (struct function *function = build->functions; function != NULL; function = function->next)
            function->distinct = 0;
    }
}
