// Runs a package that torch wrote, or a library, from C:
//   run_package model.pt2
#include <berth/berth.h>
#include <stdio.h>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  float values[2 * 64];
  for (int i = 0; i < 2 * 64; ++i) values[i] = 0.5f;
  const int64_t sizes[] = {2, 64};
  berth_model* model = NULL;
  berth_tensor* input = NULL;
  berth_tensor* output = NULL;
  berth_tensor_info info = {.struct_size = sizeof(info)};
  const int good =
      berth_model_load(argv[1], NULL, &model) == BERTH_OK &&
      berth_tensor_borrow(values, sizeof(values), BERTH_FLOAT32, 2, sizes, NULL,
                          &input) == BERTH_OK &&
      berth_model_run(model, (const berth_tensor*[]){input}, 1, &output, 1) ==
          BERTH_OK &&
      berth_tensor_describe(output, &info) == BERTH_OK;
  if (good) {
    printf("%zu numbers, the first is %g\n", info.size_bytes / sizeof(float),
           ((const float*)info.data)[0]);
  } else {
    fprintf(stderr, "%s\n", berth_last_error());
  }
  berth_tensor_destroy(output);
  berth_tensor_destroy(input);
  berth_model_destroy(model);
  return good ? 0 : 1;
}
