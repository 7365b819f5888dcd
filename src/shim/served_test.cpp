#include "shim/served.h"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include <string>

#include "shim/functions.h"

namespace berth::shim {
namespace {

TEST(Served, FindsWhatIsInTheTableAndNothingElse) {
  for (const ServedFunction& row : served())
    EXPECT_EQ(find_served(row.name), &row) << row.name;
  EXPECT_STREQ(find_served("aoti_torch_cpu_addmm_out")->theme, "gemm");
  for (const char* name : {"", "aoti_torch_", "get_dim", "aoti_torch_get_di",
                           "aoti_torch_get_dimx", "aoti_berth_get_dim", "zzz",
                           "aoti_torch_call_dispatcher"})
    EXPECT_EQ(find_served(name), nullptr) << name;
}

// Delegates bind by name in the global scope: the test's executable must export
// them all, as any program that links Berth must.
TEST(Served, EachIsExportedUnderItsBerthName) {
  const std::string prefix = "aoti_torch_";
  for (const ServedFunction& row : served()) {
    std::string name = row.name;
    ASSERT_EQ(name.compare(0, prefix.size(), prefix), 0);
    name.replace(0, prefix.size(), "aoti_berth_");
    void* symbol = ::dlsym(RTLD_DEFAULT, name.c_str());
    ASSERT_NE(symbol, nullptr) << name;
    EXPECT_EQ(symbol, served_address(row.name)) << name;
  }
  EXPECT_EQ(served_address("aoti_torch_nothing"), nullptr);
  EXPECT_EQ(::dlsym(RTLD_DEFAULT, "berenv"), reinterpret_cast<void*>(&berenv));
}

// What every surveyed library imports.
TEST(Served, HasWhatEveryLibraryNeeds) {
  for (const char* name : {"aoti_torch_clone",
                           "aoti_torch_create_tensor_from_blob",
                           "aoti_torch_create_tensor_from_blob_v2",
                           "aoti_torch_delete_tensor_object",
                           "aoti_torch_device_type_cpu",
                           "aoti_torch_device_type_cuda",
                           "aoti_torch_get_data_ptr",
                           "aoti_torch_get_device_type",
                           "aoti_torch_get_dim",
                           "aoti_torch_get_dtype",
                           "aoti_torch_get_numel",
                           "aoti_torch_get_sizes",
                           "aoti_torch_get_storage_offset",
                           "aoti_torch_get_storage_size",
                           "aoti_torch_get_strides",
                           "aoti_torch_grad_mode_is_enabled",
                           "aoti_torch_grad_mode_set_enabled",
                           "aoti_torch_new_tensor_handle",
                           "aoti_torch_empty_strided",
                           "aoti_torch__reinterpret_tensor",
                           "aoti_torch_check",
                           "aoti_torch_assign_tensors_out"})
    EXPECT_NE(find_served(name), nullptr) << name;
}

}  // namespace
}  // namespace berth::shim
