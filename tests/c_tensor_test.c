// The tensors of the C interface, as a C program uses them.
#include <stdlib.h>

#include "support/expect.h"

// DLPack's struct, of which a program has its own header.
struct array {
  void* data;
  int32_t device[2];
  int32_t ndim;
  struct {
    uint8_t code, bits;
    uint16_t lanes;
  } dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
};
struct DLManagedTensorVersioned {
  uint32_t version[2];
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensorVersioned* self);
  uint64_t flags;
  struct array dl_tensor;
};

static float values[6] = {0, 1, 2, 3, 4, 5};
static const int64_t sizes[2] = {2, 3};
static int deleted = 0;

static void count_deleted(struct DLManagedTensorVersioned* self) {
  (void)self;
  ++deleted;
}

static berth_tensor_info info_of(const berth_tensor* tensor) {
  berth_tensor_info info = {.struct_size = sizeof(info)};
  BERTH_EXPECT_OK(berth_tensor_describe(tensor, &info));
  return info;
}

static void borrows_and_describes(void) {
  berth_tensor* tensor = NULL;
  BERTH_EXPECT_OK(berth_tensor_borrow(values, sizeof(values), BERTH_FLOAT32, 2,
                                      sizes, NULL, &tensor));
  const berth_tensor_info info = info_of(tensor);
  BERTH_EXPECT(info.data == values);
  BERTH_EXPECT(info.size_bytes == sizeof(values));
  BERTH_EXPECT(info.dtype == BERTH_FLOAT32);
  BERTH_EXPECT(info.dim == 2);
  BERTH_EXPECT(info.sizes[0] == 2 && info.sizes[1] == 3);
  BERTH_EXPECT(info.strides[0] == 3 && info.strides[1] == 1);
  BERTH_EXPECT(info.is_contiguous == 1);
  berth_tensor_destroy(tensor);
}

static void clones_row_major(void) {
  const int64_t turned[2] = {3, 2};
  const int64_t strides[2] = {1, 3};
  berth_tensor *tensor = NULL, *copy = NULL;
  BERTH_EXPECT_OK(berth_tensor_borrow(values, sizeof(values), BERTH_FLOAT32, 2,
                                      turned, strides, &tensor));
  BERTH_EXPECT(info_of(tensor).is_contiguous == 0);
  BERTH_EXPECT_OK(berth_tensor_clone(tensor, &copy));
  berth_tensor_destroy(tensor);
  const float* found = info_of(copy).data;
  BERTH_EXPECT(found != values);
  BERTH_EXPECT(found[0] == 0 && found[1] == 3 && found[2] == 1);
  berth_tensor_destroy(copy);
}

static void makes_empty_ones(void) {
  const int64_t none[1] = {0};
  berth_tensor *scalar = NULL, *nothing = NULL;
  BERTH_EXPECT_OK(berth_tensor_empty(BERTH_INT64, 0, NULL, &scalar));
  BERTH_EXPECT(info_of(scalar).dim == 0);
  BERTH_EXPECT(info_of(scalar).size_bytes == sizeof(int64_t));
  *(int64_t*)info_of(scalar).data = 3;
  BERTH_EXPECT_OK(berth_tensor_empty(BERTH_BOOL, 1, none, &nothing));
  BERTH_EXPECT(info_of(nothing).data == NULL);
  BERTH_EXPECT(info_of(nothing).size_bytes == 0);
  berth_tensor_destroy(scalar);
  berth_tensor_destroy(nothing);
  berth_tensor_destroy(NULL);
}

static void exchanges_arrays(void) {
  int64_t shape[2] = {2, 3};
  struct DLManagedTensorVersioned theirs = {.version = {1, 0},
                                            .deleter = count_deleted,
                                            .dl_tensor = {.data = values,
                                                          .device = {1, 0},
                                                          .ndim = 2,
                                                          .dtype = {2, 32, 1},
                                                          .shape = shape}};
  berth_tensor *tensor = NULL, *back = NULL;
  struct DLManagedTensorVersioned* ours = NULL;

  theirs.version[0] = 2;
  BERTH_EXPECT_FAILURE(berth_tensor_from_dlpack(&theirs, &tensor),
                       BERTH_INCOMPATIBLE, "is of DLPack 2.0");
  BERTH_EXPECT(deleted == 0 && tensor == NULL);
  theirs.version[0] = 1;

  BERTH_EXPECT_OK(berth_tensor_from_dlpack(&theirs, &tensor));
  BERTH_EXPECT_OK(berth_tensor_to_dlpack(tensor, &ours));
  berth_tensor_destroy(tensor);
  BERTH_EXPECT(deleted == 0);
  BERTH_EXPECT(ours->dl_tensor.data == values);
  BERTH_EXPECT(ours->dl_tensor.strides[0] == 3);
  BERTH_EXPECT_OK(berth_tensor_from_dlpack(ours, &back));
  BERTH_EXPECT(info_of(back).data == values);
  berth_tensor_destroy(back);
  BERTH_EXPECT(deleted == 1);
}

static void refuses_what_cannot_work(void) {
  const int64_t negative[1] = {-1};
  berth_tensor* tensor = NULL;
  berth_tensor_info info = {.struct_size = sizeof(info)};
  BERTH_EXPECT_FAILURE(berth_tensor_empty(99, 2, sizes, &tensor),
                       BERTH_INVALID_ARGUMENT, "dtype code 99");
  BERTH_EXPECT_FAILURE(berth_tensor_empty(BERTH_INT8, 1, negative, &tensor),
                       BERTH_INVALID_ARGUMENT, "sizes [-1]");
  BERTH_EXPECT_FAILURE(berth_tensor_empty(BERTH_INT8, 1, NULL, &tensor),
                       BERTH_INVALID_ARGUMENT, "'sizes' must not be null");
  BERTH_EXPECT_FAILURE(berth_tensor_empty(BERTH_INT8, 2, sizes, NULL),
                       BERTH_INVALID_ARGUMENT, "'tensor' must not be null");
  BERTH_EXPECT_FAILURE(
      berth_tensor_borrow(values, 23, BERTH_FLOAT32, 2, sizes, NULL, &tensor),
      BERTH_INVALID_ARGUMENT, "need 24 bytes, storage has 23");
  BERTH_EXPECT_FAILURE(
      berth_tensor_borrow(NULL, 24, BERTH_FLOAT32, 2, sizes, NULL, &tensor),
      BERTH_INVALID_ARGUMENT, "null data");
  BERTH_EXPECT_FAILURE(berth_tensor_clone(NULL, &tensor),
                       BERTH_INVALID_ARGUMENT, "'from'");
  BERTH_EXPECT_FAILURE(berth_tensor_from_dlpack(NULL, &tensor),
                       BERTH_INVALID_ARGUMENT, "'array'");
  BERTH_EXPECT_FAILURE(berth_tensor_describe(NULL, &info),
                       BERTH_INVALID_ARGUMENT, "'tensor'");
  BERTH_EXPECT(tensor == NULL);

  BERTH_EXPECT_OK(berth_tensor_empty(BERTH_INT8, 2, sizes, &tensor));
  info.struct_size = 0;
  BERTH_EXPECT_FAILURE(berth_tensor_describe(tensor, &info),
                       BERTH_INVALID_ARGUMENT, "struct_size");
  BERTH_EXPECT_FAILURE(berth_tensor_describe(tensor, NULL),
                       BERTH_INVALID_ARGUMENT, "'info'");
  BERTH_EXPECT_FAILURE(berth_tensor_clone(tensor, NULL), BERTH_INVALID_ARGUMENT,
                       "'tensor'");
  BERTH_EXPECT_FAILURE(berth_tensor_to_dlpack(tensor, NULL),
                       BERTH_INVALID_ARGUMENT, "'array'");
  berth_tensor_destroy(tensor);
}

int main(void) {
  BERTH_EXPECT_TEXT(berth_last_error(), "");
  BERTH_EXPECT(strlen(berth_version()) > 0);
  borrows_and_describes();
  clones_row_major();
  makes_empty_ones();
  exchanges_arrays();
  refuses_what_cannot_work();
  return berth_failures;
}
