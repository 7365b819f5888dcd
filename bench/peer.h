// What a peer of the benchmark does: it says when its first result is there,
// times further calls, and prints one line of JSON. bench/run.py starts it.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

namespace bench {

// Of this process.
inline long resident_bytes() {
  const std::string name = "VmRSS:";
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(name, 0) != 0) continue;
    return std::stol(line.substr(name.size())) * 1024;
  }
  return 0;
}

// `call` runs the model once and returns the first output's first element.
template <typename Call>
int measure(Call&& call) {
  using Clock = std::chrono::steady_clock;
  const float first = call();
  // The parent takes the time when this line arrives.
  std::printf("first %.9g\n", static_cast<double>(first));
  std::fflush(stdout);
  constexpr int kWarm = 200;
  constexpr int kBatches = 50;
  constexpr int kCallsABatch = 200;
  for (int i = 0; i < kWarm; ++i) call();
  std::vector<double> batches;
  for (int i = 0; i < kBatches; ++i) {
    const auto start = Clock::now();
    for (int j = 0; j < kCallsABatch; ++j) call();
    batches.push_back(
        std::chrono::duration<double, std::micro>(Clock::now() - start)
            .count() /
        kCallsABatch);
  }
  std::sort(batches.begin(), batches.end());
  std::printf("{\"call_us\": %.4f, \"resident_bytes\": %ld}\n",
              batches[batches.size() / 2], resident_bytes());
  return 0;
}

}  // namespace bench
