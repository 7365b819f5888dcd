#include "library/library.h"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include <csignal>
#include <cstring>
#include <optional>
#include <set>
#include <thread>
#include <tuple>

#include "library/library_fakes.h"
#include "library/library_testing.h"

// A name that the fake libraries define, too.
extern "C" __attribute__((visibility("default"))) int answer() { return 99; }

namespace berth::library {
namespace {

using ::testing::ElementsAre;
using testing::FailingCall;
using testing::files_below;
using ::testing::HasSubstr;
using testing::in_child;
using ::testing::IsEmpty;
using testing::loaded_paths;
using testing::mapping_count;
using testing::open_fake;
using testing::read_fake;
using testing::TempDirectory;

std::string reason(const Result<Library>& library) {
  return library ? "opened " + library->path() : library.error().to_string();
}

int call(const Library& library, const char* name) {
  int (*function)() = library.find_symbol<int()>(name);
  return function != nullptr ? function() : -1;
}

TEST(Library, IsMappedFromAPrivateFileAndCalledThroughTypedPointers) {
  const TempDirectory temp;
  auto library = open_fake("library_answers_1", temp.path());
  ASSERT_TRUE(library) << library.error();
  EXPECT_THAT(files_below(temp.path()), ElementsAre(library->path()));
  EXPECT_THAT(loaded_paths(), ElementsAre(library->path()));
  const auto answer = library->symbol<int()>("answer");
  ASSERT_TRUE(answer);
  EXPECT_EQ((*answer)(), 1);
  EXPECT_TRUE(library->close());
  EXPECT_THAT(loaded_paths(), IsEmpty());
}

TEST(Library, DoesNotPassOffItsDependenciesFunctionsAsItsOwn) {
  const TempDirectory temp;
  const auto library = open_fake("library_answers_1", temp.path());
  ASSERT_TRUE(library) << library.error();
  const auto missing = library->symbol<int()>("no_such_function");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), Code::kNotFound);
  EXPECT_THAT(missing.error().to_string(), HasSubstr("'no_such_function'"));
  EXPECT_EQ(library->find_symbol<int()>("no_such_function"), nullptr);
  const auto borrowed = library->symbol<std::size_t(const char*)>("malloc");
  ASSERT_FALSE(borrowed) << "the C library's, not this one's";
  EXPECT_THAT(borrowed.error().to_string(), HasSubstr(" does"));
  EXPECT_EQ(library->find_symbol<void()>("malloc"), nullptr);
}

TEST(Library, HasNoSymbolsOnceItIsClosed) {
  const TempDirectory temp;
  auto library = open_fake("library_answers_1", temp.path());
  ASSERT_TRUE(library) << library.error();
  ASSERT_TRUE(library->close());
  const auto answer = library->symbol<int()>("answer");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code(), Code::kInvalidArgument);
  EXPECT_EQ(library->find_symbol<void()>("malloc"), nullptr);
  EXPECT_TRUE(library->close()) << "a second close has nothing to do";
}

class Copies : public ::testing::TestWithParam<std::size_t> {};

TEST_P(Copies, OfOneLibraryShareNoState) {
  const TempDirectory temp;
  std::vector<Library> copies;
  std::set<std::string> paths;
  for (std::size_t i = 0; i < GetParam(); ++i) {
    auto library = open_fake("library_answers_1", temp.path());
    ASSERT_TRUE(library) << library.error();
    paths.insert(library->path());
    copies.push_back(std::move(*library));
  }
  EXPECT_EQ(paths.size(), GetParam());
  EXPECT_EQ(loaded_paths().size(), GetParam());
  for (int round = 1; round <= 3; ++round) {
    for (const Library& copy : copies) {
      EXPECT_EQ(call(copy, "count_calls"), round);
      EXPECT_EQ(call(copy, "count_inline_calls"), round);
    }
  }
  // The others go on when the first is gone.
  copies.erase(copies.begin());
  for (const Library& copy : copies) EXPECT_EQ(call(copy, "count_calls"), 4);
}

INSTANTIATE_TEST_SUITE_P(Library, Copies, ::testing::Values(2, 24));

class Reuse : public ::testing::TestWithParam<Placement> {};

INSTANTIATE_TEST_SUITE_P(Placements, Reuse,
                         ::testing::Values(Placement::kFile,
                                           Placement::kMemory));

// Fault: a stale library for a path, a descriptor's number or a soname that was
// used before.
TEST_P(Reuse, OfNamesGivesNobodyAnotherLibrary) {
  const TempDirectory temp;
  ModelOptions options;
  options.temp_directory = temp.path();
  options.placement = GetParam();
  // Both call themselves libanswers.so.
  const auto open = [&](int value) {
    return Library::open(read_fake("library_answers_" + std::to_string(value)),
                         testing::OpenHost(), {}, options);
  };
  std::set<std::string> paths;
  const auto alternate = [&] {
    for (int i = 0; i < 50; ++i) {
      for (const int value : {1, 2}) {
        auto library = open(value);
        ASSERT_TRUE(library) << library.error();
        EXPECT_EQ(call(*library, "answer"), value);
        EXPECT_TRUE(paths.insert(library->path()).second) << library->path();
        EXPECT_TRUE(library->close());
      }
    }
  };
  alternate();
  // And while one of each stays open.
  const auto one = open(1);
  const auto two = open(2);
  ASSERT_TRUE(one && two);
  alternate();
  EXPECT_EQ(call(*one, "answer"), 1);
  EXPECT_EQ(call(*two, "answer"), 2);
}

// Fault: a name that the host program exports, too.
TEST(Library, PrefersItsOwnDefinitionsToTheHosts) {
  const TempDirectory temp;
  ASSERT_NE(::dlsym(RTLD_DEFAULT, "answer"), nullptr)
      << "the host exports nothing of that name";
  EXPECT_EQ(answer(), 99);
  for (const int value : {1, 2, 1}) {
    const auto library =
        open_fake("library_answers_" + std::to_string(value), temp.path());
    ASSERT_TRUE(library) << library.error();
    EXPECT_EQ(call(*library, "answer_by_name"), value);
  }
}

TEST(Library, IsOpenedAndClosedByManyThreadsAtOnce) {
  const TempDirectory temp;
  const auto bytes = read_fake("library_answers_2");
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 25; ++round) {
        auto library = testing::open_bytes(bytes, temp.path());
        ASSERT_TRUE(library) << library.error();
        EXPECT_EQ(call(*library, "count_inline_calls"), 1);
        const Status closed = library->close();
        EXPECT_TRUE(closed) << closed.error();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(files_below(temp.path()), IsEmpty());
  EXPECT_EQ(mapping_count(temp.path()), 0u);
}

// Fault: thread-local memory of which the loader has only so much at start.
TEST(Library, MayBeOneOfTwoHundredWithThreadLocalMemory) {
  const TempDirectory temp;
  const auto bytes = read_fake("library_thread_memory");
  std::vector<Library> libraries;
  for (int i = 0; i < 200; ++i) {
    auto library = testing::open_bytes(bytes, temp.path());
    ASSERT_TRUE(library) << i << ": " << library.error();
    libraries.push_back(std::move(*library));
  }
  std::thread([&] {
    for (int i = 0; i < 200; ++i)
      EXPECT_EQ(libraries[static_cast<std::size_t>(i)].find_symbol<int(int)>(
                    "fill")(i % 100),
                i % 100);
  }).join();
}

TEST(Library, ClosesWhatIsAssignedOver) {
  const TempDirectory temp;
  auto one = open_fake("library_answers_1", temp.path());
  auto two = open_fake("library_answers_2", temp.path());
  ASSERT_TRUE(one && two);
  const std::string kept = two->path();
  *one = std::move(*two);
  EXPECT_EQ(call(*one, "answer"), 2);
  EXPECT_THAT(loaded_paths(), ElementsAre(kept));
  EXPECT_THAT(files_below(temp.path()), ElementsAre(kept));
}

TEST(RefusedBytes, ReachNeitherTheDiskNorTheLoader) {
  const TempDirectory temp;
  const testing::ScopedOs scope;
  os().openat = [](int, const char*, int, mode_t) {
    ADD_FAILURE() << "nothing may be placed";
    return -1;
  };
  os().dlopen = [](const char*, int) -> void* {
    ADD_FAILURE() << "nothing may be mapped";
    return nullptr;
  };
  std::vector<std::byte> bytes = read_fake("library_answers_1");
  const auto no_entry_point = testing::open_bytes(
      bytes, temp.path(), std::vector<std::string_view>{"not_exported"});
  ASSERT_FALSE(no_entry_point);
  EXPECT_THAT(reason(no_entry_point), HasSubstr("not_exported"));
  bytes.resize(bytes.size() / 2);
  EXPECT_FALSE(testing::open_bytes(bytes, temp.path()));
  EXPECT_FALSE(testing::open_bytes({}, temp.path()));
  EXPECT_THAT(files_below(temp.path()), IsEmpty());
}

TEST(RefusalByTheLoader, IsToldInItsOwnWordsAndLeavesNothing) {
  const TempDirectory temp;
  const std::size_t descriptors = testing::descriptor_count();
  const auto library = open_fake("library_unresolved", temp.path());
  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().code(), Code::kSystem);
  EXPECT_THAT(reason(library), HasSubstr("undefined symbol: defined_nowhere"));
  EXPECT_THAT(files_below(temp.path()), IsEmpty());
  EXPECT_THAT(loaded_paths(), IsEmpty());
  EXPECT_EQ(testing::descriptor_count(), descriptors);
}

TEST(StaleLoaderEntry, IsFoundBeforeItIsTakenForTheNewFile) {
  const TempDirectory temp;
  const testing::ScopedOs scope;
  static bool mapped;
  mapped = false;
  // A loader that knows every path already.
  os().dlopen = [](const char*, int flags) {
    if ((flags & RTLD_NOLOAD) == 0) mapped = true;
    return ::dlopen(nullptr, RTLD_NOW);
  };
  const auto library = open_fake("library_answers_1", temp.path());
  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().code(), Code::kInternal);
  EXPECT_THAT(reason(library), HasSubstr("already has"));
  EXPECT_FALSE(mapped);
  EXPECT_THAT(files_below(temp.path()), IsEmpty());
}

TEST(WrongLibrary, IsNoticedWhenTheLoaderHandsOutAnother) {
  const TempDirectory temp;
  const auto first = open_fake("library_answers_1", temp.path());
  ASSERT_TRUE(first) << first.error();
  const testing::ScopedOs scope;
  static std::string wrong;
  wrong = first->path();
  os().dlopen = [](const char* path, int flags) {
    const bool load = (flags & RTLD_NOLOAD) == 0;
    return ::dlopen(load ? wrong.c_str() : path, flags);
  };
  const auto second = open_fake("library_answers_2", temp.path());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), Code::kInternal);
  EXPECT_THAT(reason(second), HasSubstr("found '" + wrong));
  EXPECT_THAT(loaded_paths(), ElementsAre(wrong));
  EXPECT_EQ(call(*first, "answer"), 1) << "the first is not to be disturbed";
}

// Fault: what a failure half way through loading leaves behind.
class Opening : public ::testing::TestWithParam<
                    std::tuple<Placement, FailingCall::Extent>> {};

INSTANTIATE_TEST_SUITE_P(
    Everywhere, Opening,
    ::testing::Combine(::testing::Values(Placement::kAutomatic,
                                         Placement::kFile, Placement::kMemory),
                       ::testing::Values(FailingCall::kOnly,
                                         FailingCall::kAndLater)));

TEST_P(Opening, LeavesNothingWhicheverCallFails) {
  const auto [placement, extent] = GetParam();
  const TempDirectory temp;
  const auto bytes = read_fake("library_answers_1");
  ModelOptions options;
  options.temp_directory = temp.path();
  options.placement = placement;
  const auto open = [&] {
    return Library::open(bytes, testing::OpenHost(), {}, options);
  };
  { ASSERT_TRUE(open()); }
  const std::size_t descriptors = testing::descriptor_count();
  int refused = 0;
  for (int n = 1;; ++n) {
    {
      const FailingCall failing(n, extent);
      auto library = open();
      if (library) {
        EXPECT_EQ(call(*library, "answer"), 1);
        (void)library->close();
      } else {
        EXPECT_EQ(library.error().code(), Code::kSystem) << n;
        ++refused;
      }
      if (!FailingCall::happened()) break;
    }
    EXPECT_THAT(files_below(temp.path()), IsEmpty()) << n;
    EXPECT_THAT(loaded_paths(), IsEmpty()) << n;
    EXPECT_EQ(mapping_count(temp.path()), 0u) << n;
    EXPECT_EQ(mapping_count("memfd:berth_"), 0u) << n;
    EXPECT_EQ(testing::descriptor_count(), descriptors) << n;
    const auto next = open();
    EXPECT_TRUE(next) << n << ": " << reason(next);
    EXPECT_EQ(call(*next, "answer"), 1);
  }
  // The loader's own calls have no second place to fall back to.
  const bool has_another =
      placement == Placement::kAutomatic && extent == FailingCall::kOnly;
  EXPECT_GE(refused, has_another ? 2 : 7);
}

TEST(FailedClose, SaysWhyAndMayBeRepeated) {
  const TempDirectory temp;
  auto library = open_fake("library_answers_1", temp.path());
  ASSERT_TRUE(library) << library.error();
  {
    const testing::ScopedOs scope;
    os().dlclose = [](void*) { return -1; };
    const Status closed = library->close();
    ASSERT_FALSE(closed);
    EXPECT_EQ(closed.error().code(), Code::kSystem);
    EXPECT_GT(mapping_count(library->path()), 0u);
  }
  EXPECT_TRUE(library->close());
  EXPECT_EQ(mapping_count(library->path()), 0u);
}

// The system that came before named the file by key and process, so that the
// second of two equal delegates wrote over the file that the first had mapped.
// This keeps that fault alive, to show that the tests above could fail.
int run_twins_in_one_file(const std::string& directory) {
  const std::vector<std::byte> bytes = read_fake("library_answers_1");
  const std::string path =
      directory + "/key_" + std::to_string(::getpid()) + ".so";
  std::array<void*, 2> handles{};
  std::array<int (*)(), 2> count_calls{};
  for (std::size_t i = 0; i < handles.size(); ++i) {
    const base::Descriptor file(
        ::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600));
    const base::Bytes part = bytes;
    if (!base::write_all(file.get(), {&part, 1}, path)) return 0;
    handles[i] = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handles[i] == nullptr) return 1;
    count_calls[i] =
        reinterpret_cast<int (*)()>(::dlsym(handles[i], "count_calls"));
    if (count_calls[i]() != 1) return 2;
  }
  return count_calls[0]() == 2 ? 0 : 3;
}

TEST(FileNamedByKeyAndProcess, BreaksTheFirstOfTwoEqualLibraries) {
  const TempDirectory temp;
  const int end = in_child([&] {
    ::freopen("/dev/null", "w", stderr);  // For a sanitizer's report.
    return run_twins_in_one_file(temp.path());
  });
  EXPECT_NE(end, 0) << "the fault that this room is there for has gone";
  EXPECT_EQ(in_child([&] {
              const auto first = open_fake("library_answers_1", temp.path());
              if (!first || call(*first, "count_calls") != 1) return 1;
              const auto second = open_fake("library_answers_1", temp.path());
              if (!second || call(*second, "count_calls") != 1) return 2;
              return call(*first, "count_calls") == 2 ? 0 : 3;
            }),
            0);
}

}  // namespace
}  // namespace berth::library
