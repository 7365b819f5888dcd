#include "shim/proxy.h"

#include "shim/functions.h"
#include "shim/trap.h"

using berth::Code;
using berth::fail;
using berth::Status;

std::int32_t aoti_berth_proxy_executor_call_function(
    AOTIProxyExecutorHandle proxy_executor, std::int32_t extern_node_index,
    std::int32_t num_ints, std::int64_t* flatten_int_args,
    std::int32_t num_tensors, AtenTensorHandle* flatten_tensor_args) {
  return berth::shim::trap(__func__, [&]() -> Status {
    if (proxy_executor == nullptr)
      return fail(Code::kUnsupported,
                  "the library calls operators by name, and what they are "
                  "called is only in its package");
    if (extern_node_index < 0 || num_ints < 0 || num_tensors < 0)
      return fail(Code::kInvalidArgument, "node ", extern_node_index, " with ",
                  num_ints, " ints and ", num_tensors, " tensors");
    return reinterpret_cast<const berth::shim::ProxyExecutor*>(proxy_executor)
        ->call(static_cast<std::size_t>(extern_node_index),
               {flatten_int_args, static_cast<std::size_t>(num_ints)},
               {flatten_tensor_args, static_cast<std::size_t>(num_tensors)});
  });
}
