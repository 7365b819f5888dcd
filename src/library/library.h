// One mapped library, which shares nothing with any other: its own file, its
// own entry in the loader, its own symbols, its own end.
//
// What its functions mean is model/'s business.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/bytes.h"
#include "berth/options.h"
#include "berth/process.h"
#include "berth/result.h"
#include "elf/host.h"
#include "library/placed_image.h"
#include "library/thread_exit.h"

namespace berth::library {

// Owns     the mapping and the file. Function pointers from symbol() are good
//          until close().
// Threads  any number may be opened and closed at once. One Library may be
//          asked for symbols by many threads; while it is being closed no
//          thread may be in its code.
// Fails    open(): what elf/ says about bytes that it refuses, before anything
//          is placed or mapped; kSystem when the file cannot be placed or the
//          loader refuses it, with the loader's text.
class Library {
 public:
  // Maps a re-identified copy of `image`, which must export `entry_points`.
  static Result<Library> open(base::Bytes image, const elf::Host& host,
                              std::span<const std::string_view> entry_points,
                              const ModelOptions& options);

  // Maps what has been placed: the last step of open(). Makes Berth's own names
  // visible to it first, see promotion.h.
  static Result<Library> map(PlacedImage image);

  Library(Library&& other) noexcept;
  Library& operator=(Library&& other) noexcept;
  ~Library();

  // The function `name`, whose type is F. Fails with kNotFound when the library
  // does not define it, even if one that it depends on does.
  template <typename F>
  Result<F*> symbol(const char* name) const {
    static_assert(std::is_function_v<F>);
    BERTH_TRY(void* const address, address_of(name));
    return reinterpret_cast<F*>(address);
  }

  // The same for a function that may be missing: null then.
  template <typename F>
  F* find_symbol(const char* name) const {
    static_assert(std::is_function_v<F>);
    const Result<void*> address = address_of(name);
    return address ? reinterpret_cast<F*>(*address) : nullptr;
  }

  // What the loader opened; kept after close().
  const std::string& path() const noexcept { return image_.path(); }

  // Where the image is, and why it is not in a file if that was tried first.
  const PlacedImage& image() const noexcept { return image_; }

  // Runs the destructors that threads left with the library, unmaps it, and
  // removes its file. Fails with kInternal when the library stayed mapped all
  // the same, kSystem when the loader or the file system refused. Repeating it
  // does what is still undone; the destructor does that in silence.
  Status close();

 private:
  Library(PlacedImage image, void* handle) noexcept
      : image_(std::move(image)), handle_(handle) {}
  Status identify();
  Status unmap();
  Result<void*> address_of(const char* name) const;

  PlacedImage image_;
  bool leaves_thread_exits_ = false;  // To the C library, which then keeps it.
  void* handle_ = nullptr;            // Null: closed.
  AddressRange range_;
};

// The libraries that are open, in no order.
std::vector<LoadedLibrary> loaded();

// Those that close() could not get rid of and that the loader has still, oldest
// first.
std::vector<PinnedLibrary> pinned();

}  // namespace berth::library
