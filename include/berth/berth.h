// Berth in C: load a compiled model, or one of a package, run it, and hand
// tensors in and out. C99. The other headers are C++, and say more.
//
// Fails    What can fail returns a code, and says why in berth_last_error();
//          its results are then as they were. A null, or a number of nothing,
//          where something is needed is BERTH_INVALID_ARGUMENT.
// Owns     Who gets a handle destroys it, once; destroying null does nothing.
//          Strings and arrays that a handle gives out are its own and live as
//          long as it does. Handles do not need each other: a model outlives
//          its package, a tensor its model.
// Threads  Any may call anything. A handle may be read by several at once;
//          berth_model_run(), _run_into() and _close() may overlap, too.
//          Destroying is for when nobody else uses the handle.
// Structs  begin with their size, which the caller sets, so that fields can be
//          added: berth_tensor_info info = {.struct_size = sizeof(info)};
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

// berth::Code, whose values do not change; docs/errors.md says what to do.
typedef int32_t berth_code;
enum {
  BERTH_OK = 0,
  BERTH_INVALID_ARGUMENT = 1,
  BERTH_NOT_FOUND = 2,
  BERTH_CORRUPT = 3,
  BERTH_INCOMPATIBLE = 4,
  BERTH_UNSUPPORTED = 5,
  BERTH_OUT_OF_MEMORY = 6,
  BERTH_SYSTEM = 7,
  BERTH_DELEGATE = 8,
  BERTH_INTERNAL = 9,
  BERTH_BUSY = 10
};

// berth::DType, whose values are torch's.
typedef int32_t berth_dtype;
enum {
  BERTH_UINT8 = 0,
  BERTH_INT8 = 1,
  BERTH_INT16 = 2,
  BERTH_INT32 = 3,
  BERTH_INT64 = 4,
  BERTH_FLOAT16 = 5,
  BERTH_FLOAT32 = 6,
  BERTH_FLOAT64 = 7,
  BERTH_COMPLEX32 = 8,
  BERTH_COMPLEX64 = 9,
  BERTH_COMPLEX128 = 10,
  BERTH_BOOL = 11,
  BERTH_BFLOAT16 = 15,
  BERTH_FLOAT8_E5M2 = 23,
  BERTH_FLOAT8_E4M3FN = 24,
  BERTH_FLOAT8_E5M2FNUZ = 25,
  BERTH_FLOAT8_E4M3FNUZ = 26,
  BERTH_UINT16 = 27,
  BERTH_UINT32 = 28,
  BERTH_UINT64 = 29
};

// Those of the library that runs, for example "0.1.0". Static memory.
const char* berth_version(void);

// The sentence of the calling thread's last failure, "" before one. Good until
// its next failure.
const char* berth_last_error(void);

// ---- Tensors. Sizes and strides count elements, one a dimension.
typedef struct berth_tensor berth_tensor;

typedef struct berth_tensor_info {
  size_t struct_size;
  void* data;         // The first element; null when there is none.
  size_t size_bytes;  // Of all elements, without gaps between them.
  size_t dim;
  const int64_t* sizes;
  const int64_t* strides;
  berth_dtype dtype;
  int32_t is_contiguous;  // 1 when elements lie row-major without gaps.
} berth_tensor_info;

// A tensor on the caller's memory, who keeps it alive until the handle and all
// DLPack arrays made of it are gone. Null `strides` mean row-major.
berth_code berth_tensor_borrow(void* data, size_t size_bytes, berth_dtype dtype,
                               size_t dim, const int64_t* sizes,
                               const int64_t* strides, berth_tensor** tensor);

// On new, row-major, uninitialized memory; a row-major copy in such memory.
berth_code berth_tensor_empty(berth_dtype dtype, size_t dim,
                              const int64_t* sizes, berth_tensor** tensor);
berth_code berth_tensor_clone(const berth_tensor* from, berth_tensor** tensor);

// Takes an array over, and calls its deleter at the end; a failure leaves it to
// the caller. The other way, the caller calls the deleter. Both share memory,
// whichever goes first; Tensor::from_dlpack (berth/tensor.h) says more.
struct DLManagedTensorVersioned;
berth_code berth_tensor_from_dlpack(struct DLManagedTensorVersioned* array,
                                    berth_tensor** tensor);
berth_code berth_tensor_to_dlpack(const berth_tensor* tensor,
                                  struct DLManagedTensorVersioned** array);
berth_code berth_tensor_describe(const berth_tensor* tensor,
                                 berth_tensor_info* info);
void berth_tensor_destroy(berth_tensor* tensor);

// ---- Packages: .pt2 archives. Their models are numbered, sorted by name.
typedef struct berth_package berth_package;

berth_code berth_package_open(const char* path, berth_package** package);
// The bytes are borrowed until the package is destroyed.
berth_code berth_package_open_bytes(const void* bytes, size_t size_bytes,
                                    berth_package** package);
berth_code berth_package_count(const berth_package* package, size_t* count);
berth_code berth_package_name(const berth_package* package, size_t model,
                              const char** name);
// What torch wrote down, for example about "AOTI_DEVICE_KEY".
berth_code berth_package_metadata(const berth_package* package, size_t model,
                                  const char* key, const char** value);
void berth_package_destroy(berth_package* package);

// ---- Models. All fields 0 are the defaults; berth/options.h explains them.
typedef struct berth_options {
  size_t struct_size;
  const char* model_name;
  const char* label;
  const char* temp_directory;
  const char* file_prefix;
  const char* instruction_set;
  uint32_t replicas;     // 0 is 1.
  int32_t keep_files;    // 0 or 1.
  int32_t placement;     // 0 default, 1 automatic, 2 file, 3 memory.
  int32_t fail_if_busy;  // 0 waits for a replica, 1 fails with BERTH_BUSY.
} berth_options;

typedef struct berth_size_range {
  int64_t least;
  int64_t most;  // Included.
} berth_size_range;

typedef struct berth_tensor_spec {
  size_t struct_size;
  const char* name;  // The library's own, for example "arg0_1".
  const char* path;  // In the exported module's arguments, "" when unknown.
  size_t dim;        // This and what follows: only when is_known.
  const berth_size_range* sizes;
  const int64_t* strides;  // -1 where it depends on sizes that are not fixed.
  berth_dtype dtype;
  int32_t is_known;  // 0 or 1; of outputs always 0.
} berth_tensor_spec;
typedef struct berth_model berth_model;

// From a file of either kind, from a package, or from a library's bytes and its
// constants (null when it holds them itself). All that is given may be freed
// afterwards. Null `options` are the defaults.
berth_code berth_model_load(const char* path, const berth_options* options,
                            berth_model** model);
berth_code berth_model_load_from(const berth_package* package,
                                 const berth_options* options,
                                 berth_model** model);
berth_code berth_model_load_bytes(const void* library, size_t library_size,
                                  const void* weights, size_t weights_size,
                                  const berth_options* options,
                                  berth_model** model);

berth_code berth_model_count(const berth_model* model, size_t* inputs,
                             size_t* outputs);
berth_code berth_model_input(const berth_model* model, size_t i,
                             berth_tensor_spec* spec);
berth_code berth_model_output(const berth_model* model, size_t i,
                              berth_tensor_spec* spec);
// How inputs and outputs nest in the module's arguments and result: torch's
// JSON, "" when the library has none.
berth_code berth_model_call_spec(const berth_model* model, const char** inputs,
                                 const char** outputs);

// Runs into new tensors, the caller's; null stands for a None.
berth_code berth_model_run(berth_model* model,
                           const berth_tensor* const* inputs,
                           size_t input_count, berth_tensor** outputs,
                           size_t output_count);
// Runs into the caller's tensors, of the results' dtypes and sizes; results for
// which there is null are not kept. A failure may leave some of them written.
berth_code berth_model_run_into(berth_model* model,
                                const berth_tensor* const* inputs,
                                size_t input_count,
                                berth_tensor* const* outputs,
                                size_t output_count);

// Unmaps early, to learn whether that went well. Then only destroying is left.
berth_code berth_model_close(berth_model* model);
void berth_model_destroy(berth_model* model);
#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
