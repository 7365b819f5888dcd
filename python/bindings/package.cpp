// berth.Package: berth::Package as it is.
#include "berth/package.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>

#include "errors.h"
#include "module.h"

namespace nb = nanobind;
using namespace nanobind::literals;

namespace berth::python {
namespace {

nb::object open(nb::handle source) {
  if (is_path(source))
    return nb::cast(value_or_raise(
        unlocked([path = path_of(source)] { return Package::open(path); })));
  const nb::bytes bytes =
      nb::steal<nb::bytes>(PyBytes_FromObject(source.ptr()));
  if (!bytes.is_valid()) nb::raise_python_error();
  nb::object package = nb::cast(
      value_or_raise(unlocked([&] { return Package::open(span_of(bytes)); })));
  // It borrows them.
  nb::keep_alive_obj(package.ptr(), bytes.ptr());
  return package;
}

PackagedModel find(const Package& package, const std::string& name) {
  return *value_or_raise(package.find(name));
}

nb::bytes read(const Package& package, const std::string& name) {
  const auto bytes =
      value_or_raise(unlocked([&] { return package.read(name); }));
  return nb::bytes(bytes.data(), bytes.size());
}

void bind_packaged(nb::module_& module) {
  nb::class_<PackagedFile>(module, "PackagedFile", "A file of an archive.")
      .def_ro("name", &PackagedFile::name)
      .def_ro("size_bytes", &PackagedFile::size_bytes)
      .def("__repr__", [](const PackagedFile& file) {
        return file.name + " (" + std::to_string(file.size_bytes) + " bytes)";
      });
  nb::class_<PackagedModel>(module, "PackagedModel", "A model of a package.")
      .def_ro("name", &PackagedModel::name)
      .def_ro("library", &PackagedModel::library)
      .def_prop_ro(
          "constants",
          [](const PackagedModel& model) { return to_string(model.constants); },
          "Where they are: \"in the library\", \"in one blob\" or \"in "
          "separate\n"
          "entries\".")
      .def_ro("constant_files", &PackagedModel::constant_files)
      .def_ro("files", &PackagedModel::files)
      .def_ro("metadata", &PackagedModel::metadata,
              "Everything that torch wrote down.")
      .def_ro("device", &PackagedModel::device)
      .def_ro("machine", &PackagedModel::machine)
      .def_ro("platform", &PackagedModel::platform)
      .def_ro("instruction_set", &PackagedModel::instruction_set);
}

}  // namespace

void bind_package(nb::module_& module) {
  bind_packaged(module);
  nb::class_<Package>(module, "Package",
                      "A .pt2 archive: compiled models, and what they say\n"
                      "about themselves.")
      .def_static("open", open, "source"_a,
                  nb::sig("def open(source: str | os.PathLike[str] | bytes | "
                          "bytearray | memoryview) -> Package"),
                  "Of a path, or of the archive's bytes.")
      .def_prop_ro("models", &Package::models, "Sorted by name; never empty.")
      .def_prop_ro("files", &Package::files, "Every file, in their order.")
      .def_prop_ro("label", &Package::label,
                   "The path, or \"a package in memory\".")
      .def("find", find, "name"_a = "",
           "The model of that name; without one \"model\", or the only one.")
      .def("read", read, "name"_a,
           "The bytes of a file, whose checksum was verified.");
}

}  // namespace berth::python
