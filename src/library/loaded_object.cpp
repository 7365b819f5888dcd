#include "library/loaded_object.h"

#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdint>

namespace berth::library {
namespace {

// Trusts what it reads: the loader has followed all of it before.
class LoadedObject {
 public:
  explicit LoadedObject(const dl_phdr_info& object) : object_(object) {
    for (std::size_t i = 0; i < object.dlpi_phnum; ++i) {
      if (object.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
      dynamic_ = reinterpret_cast<const Elf64_Dyn*>(
          object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);
    }
  }

  bool is_named(std::string_view name) const {
    const Elf64_Dyn* soname = find(DT_SONAME);
    if (soname != nullptr && string_at(soname->d_un.d_val) == name) return true;
    const std::string_view path = object_.dlpi_name;
    return path.substr(path.rfind('/') + 1) == name;
  }

  bool defines(std::string_view version) const {
    const Elf64_Dyn* table = find(DT_VERDEF);
    const Elf64_Dyn* count = find(DT_VERDEFNUM);
    if (table == nullptr || count == nullptr) return false;
    const char* at = pointer(table->d_un.d_ptr);
    for (std::uint64_t i = 0; i < count->d_un.d_val; ++i) {
      const auto& definition = *reinterpret_cast<const Elf64_Verdef*>(at);
      const auto& name =
          *reinterpret_cast<const Elf64_Verdaux*>(at + definition.vd_aux);
      if (string_at(name.vda_name) == version) return true;
      at += definition.vd_next;
    }
    return false;
  }

 private:
  const Elf64_Dyn* find(std::int64_t tag) const {
    for (const Elf64_Dyn* entry = dynamic_;
         entry != nullptr && entry->d_tag != DT_NULL; ++entry)
      if (entry->d_tag == tag) return entry;
    return nullptr;
  }

  // The loader turns addresses into pointers in place, where it can write.
  const char* pointer(std::uint64_t address) const {
    return reinterpret_cast<const char*>(
        address < object_.dlpi_addr ? object_.dlpi_addr + address : address);
  }

  std::string_view string_at(std::uint64_t offset) const {
    const Elf64_Dyn* strings = find(DT_STRTAB);
    return strings == nullptr ? std::string_view()
                              : pointer(strings->d_un.d_ptr) + offset;
  }

  const dl_phdr_info& object_;
  const Elf64_Dyn* dynamic_ = nullptr;
};

// Whether `accepts` is true of any object. The loader keeps them all meanwhile.
template <typename Accepts>
bool any_object(Accepts& accepts) {
  const auto visit = [](dl_phdr_info* object, std::size_t, void* argument) {
    auto& wanted = *static_cast<Accepts*>(argument);
    return wanted(LoadedObject(*object)) ? 1 : 0;
  };
  return ::dl_iterate_phdr(visit, &accepts) != 0;
}

}  // namespace

bool is_loaded(std::string_view name) {
  auto accepts = [name](const LoadedObject& object) {
    return object.is_named(name);
  };
  return any_object(accepts);
}

bool defines_version(std::string_view name, std::string_view version) {
  auto accepts = [name, version](const LoadedObject& object) {
    return object.is_named(name) && object.defines(version);
  };
  return any_object(accepts);
}

}  // namespace berth::library
