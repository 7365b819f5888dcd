// berth._native.Model: flat lists of tensors in, flat lists out.
#include "berth/model.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <new>
#include <string>
#include <utility>
#include <vector>

#include "berth/package.h"
#include "errors.h"
#include "inputs.h"
#include "module.h"
#include "numpy.h"
#include "torch.h"

namespace nb = nanobind;
using namespace nanobind::literals;

namespace berth::python {
namespace {

WhenBusy parse_when_busy(const std::string& text) {
  if (text == "wait") return WhenBusy::kWait;
  if (text == "fail") return WhenBusy::kFail;
  raise(fail(Code::kInvalidArgument,
             "when_busy is \"wait\" or \"fail\", found \"", text, "\"")
            .value());
}

void make_options(ModelOptions* self, const std::string& placement,
                  std::string temp_directory, bool keep_files,
                  std::size_t replicas, const std::string& when_busy,
                  std::string model_name, std::string label,
                  std::string instruction_set) {
  ModelOptions options;
  if (!placement.empty())
    options.placement = value_or_raise(parse_placement(placement));
  options.temp_directory = std::move(temp_directory);
  options.keep_files = keep_files;
  options.replicas = replicas;
  options.when_busy = parse_when_busy(when_busy);
  options.model_name = std::move(model_name);
  options.label = std::move(label);
  options.instruction_set = std::move(instruction_set);
  new (self) ModelOptions(std::move(options));
}

Model load_path(nb::handle path, const ModelOptions& options) {
  return value_or_raise(unlocked(
      [&, text = path_of(path)] { return Model::load_file(text, options); }));
}

Model load_package(const Package& package, const ModelOptions& options) {
  return value_or_raise(
      unlocked([&] { return Model::load(package, options); }));
}

Model load_library(const nb::bytes& library, const nb::bytes& weights,
                   const ModelOptions& options) {
  return value_or_raise(unlocked([&] {
    return Model::load(span_of(library), span_of(weights), options);
  }));
}

nb::object given(Tensor output, const Torch* torch) {
  if (!output.has_storage()) return nb::none();
  if (torch != nullptr) return torch->from_tensor(output);
  return numpy().from_tensor(std::move(output));
}

nb::list run(Model& model, nb::handle inputs) {
  const Inputs taken(inputs, model.inputs());
  std::vector<Tensor> outputs =
      value_or_raise(unlocked([&] { return model.run(taken.tensors()); }));
  const Torch* torch = taken.any_torch() ? Torch::find() : nullptr;
  nb::list made;
  for (Tensor& output : outputs) made.append(given(std::move(output), torch));
  return made;
}

void close(Model& model) {
  raise_unless_ok(unlocked([&] { return model.close(); }));
}

}  // namespace

void bind_model(nb::module_& module) {
  nb::class_<ModelOptions>(module, "Options", "How a model is loaded.")
      .def("__init__", make_options, nb::kw_only(), "placement"_a,
           "temp_directory"_a, "keep_files"_a, "replicas"_a, "when_busy"_a,
           "model_name"_a, "label"_a, "instruction_set"_a);
  nb::class_<Model>(module, "Model", "A compiled model.")
      .def_static("load_path", load_path, "path"_a, "options"_a,
                  nb::sig("def load_path(path: str | os.PathLike[str], "
                          "options: Options) -> Model"))
      .def_static("load_package", load_package, "package"_a, "options"_a)
      .def_static("load_library", load_library, "library"_a, "weights"_a,
                  "options"_a)
      .def_prop_ro("inputs", &Model::inputs)
      .def_prop_ro("outputs", &Model::outputs)
      .def_prop_ro("call_spec",
                   [](const Model& model) {
                     const CallSpec& spec = model.call_spec();
                     return std::pair(spec.inputs, spec.outputs);
                   })
      .def_prop_ro("library_paths", &Model::library_paths)
      .def(
          "run", run, "inputs"_a,
          nb::sig("def run(self, inputs: collections.abc.Sequence[typing.Any]) "
                  "-> list[typing.Any]"))
      .def("close", close);
}

}  // namespace berth::python
