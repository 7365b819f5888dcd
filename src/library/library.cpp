#include "library/library.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <utility>

#include "elf/edited_bytes.h"
#include "elf/identity.h"
#include "elf/image.h"
#include "elf/policy.h"
#include "library/loader_text.h"
#include "library/os.h"
#include "library/promotion.h"

namespace berth::library {
namespace {

// Every open library, by handle. Never destroyed: libraries may be closed by
// static destructors.
struct Registry {
  std::mutex mutex;
  std::map<void*, LoadedLibrary> open;
  std::vector<PinnedLibrary> pinned;

  static Registry& instance() {
    static auto* registry = new Registry;
    return *registry;
  }
};

// The handle of an object that the loader already has; to be closed again.
void* loaded_already(const std::string& path) {
  return os().dlopen(path.c_str(), RTLD_NOLOAD | RTLD_LAZY);
}

// The addresses of the loader's object `path`; empty when it has none.
AddressRange range_of(const std::string& path) {
  struct Search {
    const std::string& path;
    AddressRange range;
  } search{path, {}};
  const auto visit = [](dl_phdr_info* object, std::size_t, void* argument) {
    auto& found = *static_cast<Search*>(argument);
    if (found.path != object->dlpi_name) return 0;
    AddressRange range{std::numeric_limits<std::uintptr_t>::max(), 0};
    for (std::size_t i = 0; i < object->dlpi_phnum; ++i) {
      const auto& header = object->dlpi_phdr[i];
      if (header.p_type != PT_LOAD) continue;
      const std::uintptr_t begin = object->dlpi_addr + header.p_vaddr;
      range.begin = std::min(range.begin, begin);
      range.end = std::max(range.end, begin + header.p_memsz);
    }
    found.range = range;
    return 1;
  };
  ::dl_iterate_phdr(visit, &search);
  return search.range;
}

// What the C library offers beside the function that Berth serves. Runtimes of
// other languages call it themselves.
constexpr std::string_view kThreadExit = "__cxa_thread_atexit_impl";

struct Prepared {
  PlacedImage placed;
  bool leaves_thread_exits;
};

// A re-identified copy of `image`. The copy is parsed again where it was put:
// what is checked must be what is mapped, even if the caller's bytes change
// meanwhile.
Result<Prepared> prepare(base::Bytes bytes, const elf::Host& host,
                         std::span<const std::string_view> entry_points,
                         const ModelOptions& options) {
  BERTH_TRY(const elf::Image image, elf::Image::parse(bytes));
  const auto policy =
      elf::Policy::judge(image, host, entry_points, options.instruction_set);
  BERTH_CHECK(policy.verdict());
  const elf::EditedBytes edited(bytes, policy.identity->edits);
  BERTH_TRY(PlacedImage placed, PlacedImage::place(edited.parts(), options));
  const WrittenImage written = placed.take_written();
  BERTH_TRY(const elf::Image after, noted(elf::Image::parse(written.bytes()),
                                          "checking what was placed"));
  BERTH_CHECK(elf::Identity::verify(image, after));
  return Prepared{std::move(placed),
                  std::ranges::count(policy.other_imports, kThreadExit) != 0};
}

}  // namespace

Library::Library(Library&& other) noexcept
    : image_(std::move(other.image_)),
      leaves_thread_exits_(other.leaves_thread_exits_),
      handle_(std::exchange(other.handle_, nullptr)),
      range_(other.range_) {}

Library& Library::operator=(Library&& other) noexcept {
  if (this != &other) {
    (void)close();
    image_ = std::move(other.image_);
    leaves_thread_exits_ = other.leaves_thread_exits_;
    handle_ = std::exchange(other.handle_, nullptr);
    range_ = other.range_;
  }
  return *this;
}

Library::~Library() { (void)close(); }

Result<Library> Library::open(base::Bytes image, const elf::Host& host,
                              std::span<const std::string_view> entry_points,
                              const ModelOptions& options) {
  BERTH_TRY(Prepared prepared, prepare(image, host, entry_points, options));
  BERTH_TRY(Library library, map(std::move(prepared.placed)));
  library.leaves_thread_exits_ = prepared.leaves_thread_exits;
  return library;
}

Result<Library> Library::map(PlacedImage image) {
  BERTH_CHECK(promote_self());
  // The loader looks for a library by its path, then by device and inode, and
  // answers with one that it has without a word.
  if (void* stale = loaded_already(image.path())) {
    os().dlclose(stale);
    return fail(Code::kInternal, "the loader takes the new file '",
                image.path(), "' for a library that it already has");
  }
  void* handle = os().dlopen(image.path().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    return fail(Code::kSystem, "the loader refused '", image.path(),
                "': ", loader_text());
  Library library(std::move(image), handle);
  BERTH_CHECK(library.identify());
  return library;
}

// Finds out whether the handle is that of our file and of nobody else, and
// enters it among the open ones.
Status Library::identify() {
  range_ = range_of(path());
  link_map* entry = nullptr;
  if (os().dlinfo(handle_, RTLD_DI_LINKMAP, &entry) != 0)
    return fail(Code::kSystem, "the loader does not describe '", path(),
                "': ", loader_text());
  if (path() != entry->l_name)
    return fail(Code::kInternal, "expected the loader to map '", path(),
                "', found '", entry->l_name, "'");
  Registry& registry = Registry::instance();
  const std::lock_guard lock(registry.mutex);
  const auto [other, is_new] = registry.open.emplace(
      handle_,
      LoadedLibrary{path(), image_.in_memory(), image_.fallback_reason()});
  if (!is_new)
    return fail(Code::kInternal, "expected a new library for '", path(),
                "', found the handle of '", other->second.path, "'");
  return ok();
}

Result<void*> Library::address_of(const char* name) const {
  if (handle_ == nullptr)  // Which dlsym() takes for the whole process.
    return fail(Code::kInvalidArgument, "'", path(), "' is closed, so '", name,
                "' is gone");
  void* address = ::dlsym(handle_, name);
  if (address == nullptr)
    return fail(Code::kNotFound, "'", path(), "' does not define '", name, "'");
  // dlsym() goes on to search the library's dependencies.
  if (!range_.contains(address)) {
    Dl_info about{};
    ::dladdr(address, &about);
    return fail(Code::kNotFound, "'", path(), "' does not define '", name,
                "'; ", about.dli_fname != nullptr ? about.dli_fname : "another",
                " does");
  }
  return address;
}

Status Library::unmap() {
  run_thread_exits(range_);
  Registry& registry = Registry::instance();
  {
    // Before the loader may give the same handle to another library.
    const std::lock_guard lock(registry.mutex);
    const auto entry = registry.open.find(handle_);
    if (entry != registry.open.end() && entry->second.path == path())
      registry.open.erase(entry);
  }
  {
    const IgnoreThreadExits ignore(range_);
    if (os().dlclose(handle_) != 0)
      return fail(Code::kSystem, "the loader does not close '", path(),
                  "': ", loader_text());
  }
  handle_ = nullptr;
  void* pinned = loaded_already(path());
  if (pinned != nullptr) os().dlclose(pinned);
  if (pinned == nullptr && range_of(path()).end == 0) return ok();
  std::string reason =
      leaves_thread_exits_
          ? "it registered destructors of threads with the C library (" +
                std::string(kThreadExit) +
                "), which keeps it until those threads have ended"
          : "somebody else holds it: a handle of a dlopen() of its path, or "
            "another library that was bound to its symbols";
  auto error = fail(Code::kInternal, "'", path(),
                    "' stayed mapped after it was closed: ", reason);
  const std::lock_guard lock(registry.mutex);
  registry.pinned.push_back({path(), std::move(reason)});
  return error;
}

Status Library::close() {
  Status unmapped = ok();
  if (handle_ != nullptr) unmapped = unmap();
  Status removed = image_.remove();
  return unmapped ? removed : unmapped;
}

std::vector<LoadedLibrary> loaded() {
  Registry& registry = Registry::instance();
  const std::lock_guard lock(registry.mutex);
  std::vector<LoadedLibrary> libraries;
  for (const auto& [handle, library] : registry.open)
    libraries.push_back(library);
  return libraries;
}

std::vector<PinnedLibrary> pinned() {
  Registry& registry = Registry::instance();
  const std::lock_guard lock(registry.mutex);
  // What held one may have let go meanwhile.
  std::erase_if(registry.pinned, [](const PinnedLibrary& library) {
    return range_of(library.path).end == 0;
  });
  return registry.pinned;
}

}  // namespace berth::library
