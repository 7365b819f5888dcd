#include <span>
#include <string>
#include <utility>

#include "berth/berth.h"
#include "c/guard.h"
#include "c/handles.h"

using berth::Code;
using berth::Package;
using berth::PackagedModel;
using berth::Result;
using berth::Status;
using berth::c::check;
using berth::c::guard;

namespace {

Status give(Result<Package> opened, berth_package** out) {
  BERTH_TRY(Package package, std::move(opened));
  *out = new berth_package{std::move(package)};
  return berth::ok();
}

Result<const PackagedModel*> model_of(const berth_package* package,
                                      std::size_t i) {
  BERTH_CHECK(check({{package, "package"}}));
  const auto& models = package->package.models();
  if (i < models.size()) return &models[i];
  return berth::fail(Code::kInvalidArgument, "the package has ", models.size(),
                     " models, none is number ", i);
}

}  // namespace

berth_code berth_package_open(const char* path, berth_package** package) {
  return guard([&]() -> Status {
    BERTH_CHECK(check({{path, "path"}, {package, "package"}}));
    return give(Package::open(std::string(path)), package);
  });
}

berth_code berth_package_open_bytes(const void* bytes, size_t size_bytes,
                                    berth_package** package) {
  return guard([&]() -> Status {
    BERTH_CHECK(check({{bytes, "bytes"}, {package, "package"}}));
    const std::span given(static_cast<const std::byte*>(bytes), size_bytes);
    return give(Package::open(given), package);
  });
}

berth_code berth_package_count(const berth_package* package, size_t* count) {
  return guard([&]() -> Status {
    BERTH_CHECK(check({{package, "package"}, {count, "count"}}));
    *count = package->package.models().size();
    return berth::ok();
  });
}

berth_code berth_package_name(const berth_package* package, size_t model,
                              const char** name) {
  return guard([&]() -> Status {
    BERTH_CHECK(check({{name, "name"}}));
    BERTH_TRY(const PackagedModel* it, model_of(package, model));
    *name = it->name.c_str();
    return berth::ok();
  });
}

berth_code berth_package_metadata(const berth_package* package, size_t model,
                                  const char* key, const char** value) {
  return guard([&]() -> Status {
    BERTH_CHECK(check({{key, "key"}, {value, "value"}}));
    BERTH_TRY(const PackagedModel* it, model_of(package, model));
    const auto found = it->metadata.find(key);
    if (found == it->metadata.end())
      return berth::fail(Code::kNotFound, "model '", it->name,
                         "' has no metadata '", key, "'");
    *value = found->second.c_str();
    return berth::ok();
  });
}

void berth_package_destroy(berth_package* package) { delete package; }
