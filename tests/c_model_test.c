// Models and packages of the C interface, as a C program uses them:
//   c_model_test <folder of the compiled models>
#include <math.h>
#include <stdlib.h>

#include "support/expect.h"
#include "support/file.h"

static const char* folder;

static const char* path_of(const char* file) {
  static char path[4096];
  snprintf(path, sizeof(path), "%s/%s", folder, file);
  return path;
}

static berth_tensor* load_array(const char* file) {
  struct berth_array array = berth_read_array(path_of(file));
  berth_tensor *borrowed = NULL, *tensor = NULL;
  BERTH_EXPECT_OK(berth_tensor_borrow(array.data, array.size_bytes,
                                      BERTH_FLOAT32, array.dim, array.sizes,
                                      NULL, &borrowed));
  BERTH_EXPECT_OK(berth_tensor_clone(borrowed, &tensor));
  berth_tensor_destroy(borrowed);
  free(array.file);
  return tensor;
}

static berth_tensor_info info_of(const berth_tensor* tensor) {
  berth_tensor_info info = {.struct_size = sizeof(info)};
  BERTH_EXPECT_OK(berth_tensor_describe(tensor, &info));
  return info;
}

static void expect_near(const berth_tensor* tensor, const char* file) {
  berth_tensor* expected = load_array(file);
  const berth_tensor_info a = info_of(tensor);
  const berth_tensor_info b = info_of(expected);
  const size_t count = b.size_bytes / sizeof(float);
  double most = a.size_bytes == b.size_bytes ? 0 : INFINITY;
  for (size_t i = 0; most < INFINITY && i < count; ++i)
    most = fmax(most, fabs(((float*)a.data)[i] - ((float*)b.data)[i]));
  BERTH_EXPECT(count > 0 && most < 1e-5);
  berth_tensor_destroy(expected);
}

// Runs a model of the mlp's inputs in every way, and destroys it.
static void runs(berth_model* model) {
  berth_tensor* input = load_array("mlp_lib/in0.npy");
  const berth_tensor* inputs[1];
  berth_tensor *output = NULL, *second = NULL, *unwanted = NULL;
  size_t input_count = 0, output_count = 0;
  inputs[0] = input;
  BERTH_EXPECT_OK(berth_model_count(model, &input_count, &output_count));
  BERTH_EXPECT(input_count == 1 && output_count == 1);
  BERTH_EXPECT_OK(berth_model_run(model, inputs, 1, &output, 1));

  // Into memory of the caller's.
  BERTH_EXPECT_OK(berth_tensor_clone(output, &second));
  memset(info_of(second).data, 0, info_of(second).size_bytes);
  BERTH_EXPECT_OK(berth_model_run_into(model, inputs, 1, &second, 1));
  BERTH_EXPECT_OK(berth_model_run_into(model, inputs, 1, &unwanted, 1));
  BERTH_EXPECT(unwanted == NULL);

  BERTH_EXPECT_OK(berth_model_close(model));
  BERTH_EXPECT_FAILURE(berth_model_run(model, inputs, 1, &unwanted, 1),
                       BERTH_INVALID_ARGUMENT, "the model is closed");
  BERTH_EXPECT(unwanted == NULL);
  berth_model_destroy(model);
  berth_tensor_destroy(input);

  expect_near(output, "mlp_lib/out0.npy");
  expect_near(second, "mlp_lib/out0.npy");
  berth_tensor_destroy(output);
  berth_tensor_destroy(second);
}

static void loads_files_of_either_kind(void) {
  berth_model* model = NULL;
  const berth_options options = {.struct_size = sizeof(options),
                                 .label = "the mlp",
                                 .file_prefix = "c_model_test",
                                 .placement = 3,
                                 .replicas = 2,
                                 .fail_if_busy = 1};
  if (BERTH_EXPECT_OK(
          berth_model_load(path_of("mlp_lib/model.so"), &options, &model)))
    runs(model);
  if (BERTH_EXPECT_OK(
          berth_model_load(path_of("mlp_lib/model.pt2"), NULL, &model)))
    runs(model);
}

static void loads_bytes(void) {
  struct berth_file library = berth_read_file(path_of("mlp_lib/model.so"));
  berth_model* model = NULL;
  if (BERTH_EXPECT_OK(berth_model_load_bytes(library.data, library.size, NULL,
                                             0, NULL, &model))) {
    free(library.data);
    runs(model);
  }
  library = berth_read_file(path_of("mlp_lib_external/model.so"));
  struct berth_file weights =
      berth_read_file(path_of("mlp_lib_external/weights.blob"));
  model = NULL;
  BERTH_EXPECT_FAILURE(
      berth_model_load_bytes(library.data, library.size, weights.data,
                             weights.size - 1, NULL, &model),
      BERTH_INVALID_ARGUMENT, "bytes of weights");
  BERTH_EXPECT(model == NULL);
  if (BERTH_EXPECT_OK(berth_model_load_bytes(library.data, library.size,
                                             weights.data, weights.size, NULL,
                                             &model)))
    berth_model_destroy(model);
  free(library.data);
  free(weights.data);
}

static void says_what_a_model_takes(void) {
  berth_model* model = NULL;
  berth_tensor_spec spec = {.struct_size = sizeof(spec)};
  const char *inputs = NULL, *outputs = NULL;
  if (!BERTH_EXPECT_OK(
          berth_model_load(path_of("mlp_lib/model.pt2"), NULL, &model)))
    return;
  BERTH_EXPECT_OK(berth_model_input(model, 0, &spec));
  BERTH_EXPECT(strlen(spec.name) > 0);
  BERTH_EXPECT_TEXT(spec.path, "[0]");
  BERTH_EXPECT(spec.is_known == 1 && spec.dtype == BERTH_FLOAT32);
  BERTH_EXPECT(spec.dim == 2 && spec.sizes[1].least == 64);
  BERTH_EXPECT(spec.sizes[1].most == 64 && spec.strides[1] == 1);
  BERTH_EXPECT_OK(berth_model_output(model, 0, &spec));
  BERTH_EXPECT(strlen(spec.name) > 0 && spec.is_known == 0 && spec.dim == 0);
  BERTH_EXPECT_OK(berth_model_call_spec(model, &inputs, &outputs));
  BERTH_EXPECT(strstr(inputs, "builtins.tuple") != NULL);
  BERTH_EXPECT(strlen(outputs) > 0);
  BERTH_EXPECT_FAILURE(berth_model_input(model, 1, &spec),
                       BERTH_INVALID_ARGUMENT, "none is number 1");
  BERTH_EXPECT_FAILURE(berth_model_output(model, 0, NULL),
                       BERTH_INVALID_ARGUMENT, "'spec'");
  berth_model_destroy(model);
}

static void opens_packages(void) {
  struct berth_file file = berth_read_file(path_of("two_models_pkg/model.pt2"));
  const berth_options options = {.struct_size = sizeof(options),
                                 .model_name = "right"};
  berth_package *package = NULL, *borrowed = NULL;
  berth_model* model = NULL;
  const char* text = NULL;
  size_t count = 0;
  BERTH_EXPECT_OK(berth_package_open_bytes(file.data, file.size, &borrowed));
  BERTH_EXPECT_OK(berth_package_count(borrowed, &count));
  BERTH_EXPECT(count == 2);
  BERTH_EXPECT_OK(berth_package_name(borrowed, 1, &text));
  BERTH_EXPECT_TEXT(text, "right");
  BERTH_EXPECT_OK(
      berth_package_metadata(borrowed, 0, "AOTI_DEVICE_KEY", &text));
  BERTH_EXPECT_TEXT(text, "cpu");
  BERTH_EXPECT_FAILURE(berth_package_metadata(borrowed, 0, "nothing", &text),
                       BERTH_NOT_FOUND, "no metadata 'nothing'");
  BERTH_EXPECT_FAILURE(berth_package_name(borrowed, 2, &text),
                       BERTH_INVALID_ARGUMENT, "none is number 2");
  BERTH_EXPECT_FAILURE(berth_model_load_from(borrowed, NULL, &model),
                       BERTH_NOT_FOUND, "'left'");
  BERTH_EXPECT_OK(berth_model_load_from(borrowed, &options, &model));
  berth_package_destroy(borrowed);
  free(file.data);
  berth_model_destroy(model);

  BERTH_EXPECT_OK(berth_package_open(path_of("mlp_lib/model.pt2"), &package));
  model = NULL;
  if (BERTH_EXPECT_OK(berth_model_load_from(package, NULL, &model))) {
    berth_package_destroy(package);
    runs(model);
  }
}

static void refuses_wrong_inputs(void) {
  const int64_t sizes[1] = {64};
  berth_model* model = NULL;
  berth_tensor *flat = NULL, *output = NULL;
  const berth_tensor* inputs[1];
  if (!BERTH_EXPECT_OK(
          berth_model_load(path_of("mlp_lib/model.so"), NULL, &model)))
    return;
  BERTH_EXPECT_OK(berth_tensor_empty(BERTH_FLOAT32, 1, sizes, &flat));
  inputs[0] = flat;
  BERTH_EXPECT_FAILURE(berth_model_run(model, inputs, 1, &output, 1),
                       BERTH_INVALID_ARGUMENT, "[2, 64], found float32 [64]");
  BERTH_EXPECT_FAILURE(berth_model_run(model, inputs, 0, &output, 1),
                       BERTH_INVALID_ARGUMENT, "takes 1 inputs, found 0");
  BERTH_EXPECT_FAILURE(berth_model_run(model, inputs, 1, &output, 0),
                       BERTH_INVALID_ARGUMENT, "gives 1 outputs");
  inputs[0] = NULL;
  BERTH_EXPECT_FAILURE(berth_model_run(model, inputs, 1, &output, 1),
                       BERTH_INVALID_ARGUMENT, "input 0 must not be null");
  BERTH_EXPECT_FAILURE(berth_model_run(model, NULL, 1, &output, 1),
                       BERTH_INVALID_ARGUMENT, "'inputs'");
  inputs[0] = flat;
  BERTH_EXPECT_FAILURE(berth_model_run(model, inputs, 1, NULL, 1),
                       BERTH_INVALID_ARGUMENT, "'outputs'");
  BERTH_EXPECT_FAILURE(berth_model_run_into(model, inputs, 1, NULL, 1),
                       BERTH_INVALID_ARGUMENT, "'outputs'");
  BERTH_EXPECT(output == NULL);
  berth_tensor_destroy(flat);
  berth_model_destroy(model);
}

static void refuses_what_cannot_be_loaded(void) {
  berth_options options = {.struct_size = sizeof(options), .label = "it"};
  berth_model* model = NULL;
  berth_package* package = NULL;
  size_t count = 0;
  const char* text = NULL;
  const char* library = path_of("mlp_lib/model.so");
  BERTH_EXPECT_FAILURE(berth_model_load("/missing.pt2", NULL, &model),
                       BERTH_NOT_FOUND, "'/missing.pt2'");
  BERTH_EXPECT_FAILURE(berth_package_open("/missing.pt2", &package),
                       BERTH_NOT_FOUND, "'/missing.pt2'");
  BERTH_EXPECT_FAILURE(
      berth_model_load_bytes("none", 4, NULL, 0, &options, &model),
      BERTH_CORRUPT, "loading 'it'");
  BERTH_EXPECT_FAILURE(berth_model_load_bytes("none", 4, NULL, 9, NULL, &model),
                       BERTH_INVALID_ARGUMENT, "'weights'");
  BERTH_EXPECT_FAILURE(berth_model_load_bytes(NULL, 4, NULL, 0, NULL, &model),
                       BERTH_INVALID_ARGUMENT, "'library'");
  options.placement = 4;
  BERTH_EXPECT_FAILURE(berth_model_load(library, &options, &model),
                       BERTH_INVALID_ARGUMENT, "'placement' is 4");
  options.struct_size = 0;
  BERTH_EXPECT_FAILURE(berth_model_load(library, &options, &model),
                       BERTH_INVALID_ARGUMENT, "struct_size");
  BERTH_EXPECT_FAILURE(berth_model_load(NULL, NULL, &model),
                       BERTH_INVALID_ARGUMENT, "'path'");
  BERTH_EXPECT_FAILURE(berth_model_load(library, NULL, NULL),
                       BERTH_INVALID_ARGUMENT, "'model'");
  BERTH_EXPECT_FAILURE(berth_model_load_from(NULL, NULL, &model),
                       BERTH_INVALID_ARGUMENT, "'package'");
  BERTH_EXPECT_FAILURE(berth_package_open(NULL, &package),
                       BERTH_INVALID_ARGUMENT, "'path'");
  BERTH_EXPECT_FAILURE(berth_package_open_bytes(NULL, 4, &package),
                       BERTH_INVALID_ARGUMENT, "'bytes'");
  BERTH_EXPECT_FAILURE(berth_package_count(NULL, &count),
                       BERTH_INVALID_ARGUMENT, "'package'");
  BERTH_EXPECT_FAILURE(berth_package_name(NULL, 0, &text),
                       BERTH_INVALID_ARGUMENT, "'package'");
  BERTH_EXPECT_FAILURE(berth_model_count(NULL, &count, &count),
                       BERTH_INVALID_ARGUMENT, "'model'");
  BERTH_EXPECT_FAILURE(berth_model_close(NULL), BERTH_INVALID_ARGUMENT,
                       "'model'");
  BERTH_EXPECT(model == NULL && package == NULL);
  berth_model_destroy(NULL);
  berth_package_destroy(NULL);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  folder = argv[1];
  loads_files_of_either_kind();
  loads_bytes();
  says_what_a_model_takes();
  opens_packages();
  refuses_wrong_inputs();
  refuses_what_cannot_be_loaded();
  return berth_failures;
}
