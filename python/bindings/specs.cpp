// What a model takes and gives, as tuples and strings.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "berth/signature.h"
#include "module.h"

namespace nb = nanobind;

namespace berth::python {
namespace {

nb::object dtype_of(const TensorSpec& spec) {
  if (!spec.is_known) return nb::none();
  return nb::str(to_string(spec.dtype));
}

nb::object sizes_of(const TensorSpec& spec) {
  if (!spec.is_known) return nb::none();
  nb::list made;
  for (const SizeRange& range : spec.sizes)
    made.append(nb::make_tuple(range.least, range.most));
  return nb::tuple(made);
}

nb::object strides_of(const TensorSpec& spec) {
  if (!spec.is_known) return nb::none();
  nb::list made;
  for (const std::int64_t stride : spec.strides)
    made.append(stride == TensorSpec::kVaries ? nb::object(nb::none())
                                              : nb::object(nb::int_(stride)));
  return nb::tuple(made);
}

}  // namespace

void bind_specs(nb::module_& module) {
  nb::class_<TensorSpec>(module, "TensorSpec",
                         "An input or output, as far as the library tells.")
      .def_ro("name", &TensorSpec::name, "The library's own name for it.")
      .def_ro(
          "path", &TensorSpec::path,
          "Where it is in the arguments or the result, \"[0]['w']\"; empty\n"
          "when the library does not say.")
      .def_prop_ro("dtype", dtype_of, nb::sig("def dtype(self) -> str | None"),
                   "torch's name, \"float32\"; None when it is not known, and\n"
                   "so are sizes and strides.")
      .def_prop_ro(
          "sizes", sizes_of,
          nb::sig("def sizes(self) -> tuple[tuple[int, int], ...] | None"),
          "The least and the most that each dimension may have.")
      .def_prop_ro(
          "strides", strides_of,
          nb::sig("def strides(self) -> tuple[int | None, ...] | None"),
          "In elements; None for one that depends on sizes.")
      .def("__repr__", &TensorSpec::to_string);
}

}  // namespace berth::python
