// The functions that delegates call, under the names that Berth gives to the
// imports of a library (aoti_torch_x becomes aoti_berth_x), so that they never
// meet libtorch's in the same process.
//
// Each has the type, and the meaning, of torch's function. abi_test.cpp holds
// the types against torch's headers; served.inc is the table of them all.
// Those that return int32 return 0 for success or 1, and then the reason is
// kept (reason.h). Handles that come back through a pointer are the caller's.
//
// Threads  all may be called from any thread; tensors are values (tensor.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "shim/handle.h"
#include "tensor/element.h"

// NOLINTBEGIN(bugprone-reserved-identifier): the names are torch's.
#pragma GCC visibility push(default)
extern "C" {

#define BERTH_CONSTANT(name, value) std::int32_t aoti_berth_##name();
#include "shim/constants.inc"
#undef BERTH_CONSTANT
std::size_t aoti_berth_dtype_element_size(std::int32_t dtype);
std::uint64_t aoti_berth_abi_version();

// properties.cpp
std::int32_t aoti_berth_get_data_ptr(AtenTensorHandle tensor, void** out);
std::int32_t aoti_berth_get_storage_size(AtenTensorHandle tensor,
                                         std::int64_t* out);
std::int32_t aoti_berth_get_storage_numel(AtenTensorHandle tensor,
                                          std::int64_t* out);
std::int32_t aoti_berth_get_storage_offset(AtenTensorHandle tensor,
                                           std::int64_t* out);
std::int32_t aoti_berth_get_dim(AtenTensorHandle tensor, std::int64_t* out);
std::int32_t aoti_berth_get_numel(AtenTensorHandle tensor, std::int64_t* out);
std::int32_t aoti_berth_get_sizes(AtenTensorHandle tensor, std::int64_t** out);
std::int32_t aoti_berth_get_size(AtenTensorHandle tensor, std::int64_t d,
                                 std::int64_t* out);
std::int32_t aoti_berth_get_strides(AtenTensorHandle tensor,
                                    std::int64_t** out);
std::int32_t aoti_berth_get_stride(AtenTensorHandle tensor, std::int64_t d,
                                   std::int64_t* out);
std::int32_t aoti_berth_get_dtype(AtenTensorHandle tensor, std::int32_t* out);
std::int32_t aoti_berth_get_device_type(AtenTensorHandle tensor,
                                        std::int32_t* out);
std::int32_t aoti_berth_get_device_index(AtenTensorHandle tensor,
                                         std::int32_t* out);
std::int32_t aoti_berth_get_layout(AtenTensorHandle tensor, std::int32_t* out);
std::int32_t aoti_berth_is_contiguous(AtenTensorHandle tensor, bool* out);
std::int32_t aoti_berth_is_defined(AtenTensorHandle tensor, bool* out);

// creation.cpp
std::int32_t aoti_berth_new_tensor_handle(AtenTensorHandle original,
                                          AtenTensorHandle* out);
std::int32_t aoti_berth_new_uninitialized_tensor(AtenTensorHandle* out);
std::int32_t aoti_berth_delete_tensor_object(AtenTensorHandle tensor);
std::int32_t aoti_berth_empty_strided(
    std::int64_t ndim, const std::int64_t* sizes, const std::int64_t* strides,
    std::int32_t dtype, std::int32_t device_type, std::int32_t device_index,
    AtenTensorHandle* out);
std::int32_t aoti_berth_empty_strided_pinned(
    std::int64_t ndim, const std::int64_t* sizes, const std::int64_t* strides,
    std::int32_t dtype, std::int32_t device_type, std::int32_t device_index,
    AtenTensorHandle* out);
std::int32_t aoti_berth__reinterpret_tensor(AtenTensorHandle self,
                                            std::int64_t ndim,
                                            const std::int64_t* sizes,
                                            const std::int64_t* strides,
                                            std::int64_t storage_offset,
                                            AtenTensorHandle* out);
std::int32_t aoti_berth_as_strided(AtenTensorHandle self,
                                   const std::int64_t* sizes,
                                   const std::int64_t* strides,
                                   AtenTensorHandle* out);
std::int32_t aoti_berth_create_tensor_from_blob(
    void* data, std::int64_t ndim, const std::int64_t* sizes,
    const std::int64_t* strides, std::int64_t storage_offset,
    std::int32_t dtype, std::int32_t device_type, std::int32_t device_index,
    AtenTensorHandle* out);
std::int32_t aoti_berth_create_tensor_from_blob_v2(
    void* data, std::int64_t ndim, const std::int64_t* sizes,
    const std::int64_t* strides, std::int64_t storage_offset,
    std::int32_t dtype, std::int32_t device_type, std::int32_t device_index,
    AtenTensorHandle* out, std::int32_t layout,
    const std::uint8_t* opaque_metadata, std::int64_t opaque_metadata_size);

// transfer.cpp
std::int32_t aoti_berth_assign_tensors(AtenTensorHandle source,
                                       AtenTensorHandle target);
std::int32_t aoti_berth_assign_tensors_out(AtenTensorHandle source,
                                           AtenTensorHandle* out);
std::int32_t aoti_berth_tensor_copy_(AtenTensorHandle source,
                                     AtenTensorHandle target);
std::int32_t aoti_berth_copy_(AtenTensorHandle self, AtenTensorHandle source,
                              std::int32_t non_blocking);
std::int32_t aoti_berth_clone(AtenTensorHandle self, AtenTensorHandle* out);
std::int32_t aoti_berth_clone_preserve_strides(AtenTensorHandle self,
                                               AtenTensorHandle* out);
std::int32_t aoti_berth_zero_(AtenTensorHandle self);

// scalars.cpp
#define BERTH_ITEM(dtype, type) \
  std::int32_t aoti_berth_item_##dtype(AtenTensorHandle tensor, type* out);
#define BERTH_SCALAR(dtype, type)                              \
  std::int32_t aoti_berth_scalar_to_tensor_##dtype(type value, \
                                                   AtenTensorHandle* out);
#include "shim/scalars.inc"
#undef BERTH_ITEM
#undef BERTH_SCALAR

// runtime.cpp
bool aoti_berth_grad_mode_is_enabled();
void aoti_berth_grad_mode_set_enabled(bool enabled);
void aoti_berth_check(bool condition, const char* function, const char* file,
                      std::uint32_t line, const char* message);
void aoti_berth_warn(const char* function, const char* file, std::uint32_t line,
                     const char* message);

// ops/gemm.cpp
std::int32_t aoti_berth_cpu_mm_out(AtenTensorHandle out, AtenTensorHandle self,
                                   AtenTensorHandle mat2);
std::int32_t aoti_berth_cpu_addmm_out(AtenTensorHandle out,
                                      AtenTensorHandle self,
                                      AtenTensorHandle mat1,
                                      AtenTensorHandle mat2, double beta,
                                      double alpha);
std::int32_t aoti_berth_cpu_bmm_out(AtenTensorHandle out, AtenTensorHandle self,
                                    AtenTensorHandle mat2);
std::int32_t aoti_berth_cpu_baddbmm_out(AtenTensorHandle out,
                                        AtenTensorHandle self,
                                        AtenTensorHandle batch1,
                                        AtenTensorHandle batch2, double beta,
                                        double alpha);
std::int32_t aoti_berth__mm_plus_mm_out(AtenTensorHandle out,
                                        AtenTensorHandle a, AtenTensorHandle b,
                                        AtenTensorHandle c, AtenTensorHandle d);

// ops/convolution.cpp
std::int32_t aoti_berth_cpu_convolution(
    AtenTensorHandle input, AtenTensorHandle weight, AtenTensorHandle* bias,
    const std::int64_t* stride, std::int64_t stride_len,
    const std::int64_t* padding, std::int64_t padding_len,
    const std::int64_t* dilation, std::int64_t dilation_len,
    std::int32_t transposed, const std::int64_t* output_padding,
    std::int64_t output_padding_len, std::int64_t groups,
    AtenTensorHandle* out);

// ops/lstm.cpp
std::int32_t aoti_berth_cpu_mkldnn_rnn_layer(
    AtenTensorHandle input, AtenTensorHandle weight0, AtenTensorHandle weight1,
    AtenTensorHandle weight2, AtenTensorHandle weight3, AtenTensorHandle hx,
    AtenTensorHandle cx, std::int32_t reverse, const std::int64_t* batch_sizes,
    std::int64_t batch_sizes_len, std::int64_t mode, std::int64_t hidden_size,
    std::int64_t num_layers, std::int32_t has_biases,
    std::int32_t bidirectional, std::int32_t batch_first, std::int32_t train,
    AtenTensorHandle* output, AtenTensorHandle* hy, AtenTensorHandle* cy,
    AtenTensorHandle* workspace);

// ops/attention.cpp
std::int32_t aoti_berth_cpu__scaled_dot_product_flash_attention_for_cpu(
    AtenTensorHandle query, AtenTensorHandle key, AtenTensorHandle value,
    double dropout_p, std::int32_t is_causal, AtenTensorHandle* attn_mask,
    double* scale, AtenTensorHandle* ret0, AtenTensorHandle* ret1);

// ops/fft.cpp
std::int32_t aoti_berth_cpu__fft_c2c(
    AtenTensorHandle self, const std::int64_t* dim, std::int64_t dim_len_,
    std::int64_t normalization, std::int32_t forward, AtenTensorHandle* ret0);
std::int32_t aoti_berth_cpu__fft_r2c(
    AtenTensorHandle self, const std::int64_t* dim, std::int64_t dim_len_,
    std::int64_t normalization, std::int32_t onesided, AtenTensorHandle* ret0);

// ops/scan.cpp
std::int32_t aoti_berth_cpu_cumsum(AtenTensorHandle self, std::int64_t dim,
                                   std::int32_t* dtype, AtenTensorHandle* out);
std::int32_t aoti_berth_cpu_cumprod(AtenTensorHandle self, std::int64_t dim,
                                    std::int32_t* dtype, AtenTensorHandle* out);
std::int32_t aoti_berth_cpu_cummax(AtenTensorHandle self, std::int64_t dim,
                                   AtenTensorHandle* values,
                                   AtenTensorHandle* indices);
std::int32_t aoti_berth_cpu_cummin(AtenTensorHandle self, std::int64_t dim,
                                   AtenTensorHandle* values,
                                   AtenTensorHandle* indices);
std::int32_t aoti_berth_cpu_logcumsumexp(AtenTensorHandle self,
                                         std::int64_t dim,
                                         AtenTensorHandle* out);

// ops/order.cpp
std::int32_t aoti_berth_cpu_sort(AtenTensorHandle self, std::int64_t dim,
                                 std::int32_t descending,
                                 AtenTensorHandle* values,
                                 AtenTensorHandle* indices);
std::int32_t aoti_berth_cpu_sort_stable(AtenTensorHandle self, std::int32_t*,
                                        std::int64_t dim,
                                        std::int32_t descending,
                                        AtenTensorHandle* values,
                                        AtenTensorHandle* indices);
std::int32_t aoti_berth_cpu_topk(AtenTensorHandle self, std::int64_t k,
                                 std::int64_t dim, std::int32_t largest,
                                 std::int32_t sorted, AtenTensorHandle* values,
                                 AtenTensorHandle* indices);
std::int32_t aoti_berth_cpu_kthvalue(AtenTensorHandle self, std::int64_t k,
                                     std::int64_t dim, std::int32_t keepdim,
                                     AtenTensorHandle* values,
                                     AtenTensorHandle* indices);

// ops/search.cpp
std::int32_t aoti_berth_cpu_searchsorted_Tensor(
    AtenTensorHandle sorted_sequence, AtenTensorHandle self,
    std::int32_t out_int32, std::int32_t right, const char** side,
    AtenTensorHandle* sorter, AtenTensorHandle* out);
std::int32_t aoti_berth_cpu_searchsorted_Scalar(
    AtenTensorHandle sorted_sequence, double self, std::int32_t out_int32,
    std::int32_t right, const char** side, AtenTensorHandle* sorter,
    AtenTensorHandle* out);
std::int32_t aoti_berth_cpu_bucketize_Tensor(AtenTensorHandle self,
                                             AtenTensorHandle boundaries,
                                             std::int32_t out_int32,
                                             std::int32_t right,
                                             AtenTensorHandle* out);
std::int32_t aoti_berth_cpu_histc(AtenTensorHandle self, std::int64_t bins,
                                  double min, double max,
                                  AtenTensorHandle* out);

// ops/select.cpp
std::int32_t aoti_berth_cpu_nonzero(AtenTensorHandle self,
                                    AtenTensorHandle* out);
std::int32_t aoti_berth_cpu_nonzero_static(AtenTensorHandle self,
                                           std::int64_t size,
                                           std::int64_t fill_value,
                                           AtenTensorHandle* out);
std::int32_t aoti_berth_cpu_masked_select(AtenTensorHandle self,
                                          AtenTensorHandle mask,
                                          AtenTensorHandle* out);

// ops/scatter.cpp
std::int32_t aoti_berth_cpu_scatter_src_out(AtenTensorHandle out,
                                            AtenTensorHandle self,
                                            std::int64_t dim,
                                            AtenTensorHandle index,
                                            AtenTensorHandle src);
std::int32_t aoti_berth_cpu_scatter_value_out(AtenTensorHandle out,
                                              AtenTensorHandle self,
                                              std::int64_t dim,
                                              AtenTensorHandle index,
                                              double value);
std::int32_t aoti_berth_cpu_scatter_reduce_two_out(
    AtenTensorHandle out, AtenTensorHandle self, std::int64_t dim,
    AtenTensorHandle index, AtenTensorHandle src, const char* reduce,
    std::int32_t include_self);

// ops/views.cpp
std::int32_t aoti_berth_cpu_permute(AtenTensorHandle self,
                                    const std::int64_t* dims,
                                    std::int64_t dims_len,
                                    AtenTensorHandle* out);
std::int32_t aoti_berth_cpu_narrow(AtenTensorHandle self, std::int64_t dim,
                                   std::int64_t start, std::int64_t length,
                                   AtenTensorHandle* out);
std::int32_t aoti_berth_cpu_slice_Tensor(AtenTensorHandle self,
                                         std::int64_t dim, std::int64_t* start,
                                         std::int64_t* end, std::int64_t step,
                                         AtenTensorHandle* out);
std::int32_t aoti_berth_cpu_squeeze_dim(AtenTensorHandle self, std::int64_t dim,
                                        AtenTensorHandle* out);
std::int32_t aoti_berth_cpu_reshape(AtenTensorHandle self,
                                    const std::int64_t* shape,
                                    std::int64_t shape_len,
                                    AtenTensorHandle* out);

// ops/embedding.cpp
std::int32_t aoti_berth_cpu__embedding_bag(
    AtenTensorHandle weight, AtenTensorHandle indices, AtenTensorHandle offsets,
    std::int32_t, std::int64_t mode, std::int32_t,
    AtenTensorHandle* per_sample_weights, std::int32_t include_last_offset,
    std::int64_t padding_idx, AtenTensorHandle* out,
    AtenTensorHandle* bag_of_index, AtenTensorHandle* counts,
    AtenTensorHandle* largest);
std::int32_t aoti_berth_cpu__embedding_bag_forward_only(
    AtenTensorHandle weight, AtenTensorHandle indices, AtenTensorHandle offsets,
    std::int32_t, std::int64_t mode, std::int32_t,
    AtenTensorHandle* per_sample_weights, std::int32_t include_last_offset,
    std::int64_t padding_idx, AtenTensorHandle* out,
    AtenTensorHandle* bag_of_index, AtenTensorHandle* counts,
    AtenTensorHandle* largest);

// proxy.cpp
std::int32_t aoti_berth_proxy_executor_call_function(
    AOTIProxyExecutorHandle proxy_executor, std::int32_t extern_node_index,
    std::int32_t num_ints, std::int64_t* flatten_int_args,
    std::int32_t num_tensors, AtenTensorHandle* flatten_tensor_args);

// environment.cpp: what a delegate's getenv becomes.
char* berenv(const char* name);

}  // extern "C"
#pragma GCC visibility pop
// NOLINTEND(bugprone-reserved-identifier)
