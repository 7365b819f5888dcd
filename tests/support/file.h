// Files for tests in C: whole, and .npy files of float32.
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The caller frees `data`. Ends the program when the file cannot be read.
struct berth_file {
  char* data;
  size_t size;
};

static inline struct berth_file berth_read_file(const char* path) {
  struct berth_file out = {NULL, 0};
  FILE* file = fopen(path, "rb");
  if (file != NULL && fseek(file, 0, SEEK_END) == 0) {
    out.size = (size_t)ftell(file);
    out.data = malloc(out.size + 1);
    rewind(file);
  }
  if (out.data == NULL || fread(out.data, 1, out.size, file) != out.size) {
    printf("cannot read %s\n", path);
    exit(2);
  }
  out.data[out.size] = '\0';
  fclose(file);
  return out;
}

// Row-major float32. The caller frees `file`, which the rest points into.
struct berth_array {
  char* file;
  void* data;
  size_t size_bytes;
  size_t dim;
  int64_t sizes[8];
};

static inline struct berth_array berth_read_array(const char* path) {
  const struct berth_file file = berth_read_file(path);
  struct berth_array out = {.file = file.data};
  // Ten bytes, of which the last two are the length of the text that follows.
  const unsigned char* bytes = (const unsigned char*)file.data;
  const size_t begin = 10u + bytes[8] + 256u * bytes[9];
  char* at = strstr(file.data + 10, "'shape': (");
  if (at == NULL || strstr(file.data + 10, "'<f4'") == NULL ||
      strstr(file.data + 10, "'fortran_order': False") == NULL) {
    printf("%s is no row-major float32\n", path);
    exit(2);
  }
  for (at += 10; *at >= '0' && *at <= '9' && out.dim < 8; ++out.dim) {
    out.sizes[out.dim] = strtoll(at, &at, 10);
    at += strspn(at, ", ");
  }
  out.data = file.data + begin;
  out.size_bytes = file.size - begin;
  return out;
}
