#include "pack/archive.h"

#include <zip.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_set>

#include "base/checked.h"

namespace berth::pack {
namespace {

// No deflate stream is larger than this many times its packed size.
constexpr std::uint64_t kMostDeflateRatio = 1032;

// An archive of nothing.
constexpr std::uint64_t kSmallest = 22;

// A Source as libzip reads it.
//
// Owns     nothing.
// Threads  one.
class Cursor {
 public:
  explicit Cursor(const Source& source) : source_(source) {
    zip_error_init(&last_);
  }
  ~Cursor() { zip_error_fini(&last_); }
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;

  // libzip's callback.
  static zip_int64_t serve(void* cursor, void* data, zip_uint64_t size,
                           zip_source_cmd_t command) {
    return static_cast<Cursor*>(cursor)->serve(data, size, command);
  }

  // Why reading the source failed, if it did.
  std::optional<Error> take_error() { return std::exchange(error_, {}); }

 private:
  zip_int64_t serve(void* data, zip_uint64_t size, zip_source_cmd_t command) {
    switch (command) {
      case ZIP_SOURCE_OPEN:
        position_ = 0;
        return 0;
      case ZIP_SOURCE_READ:
        return read({static_cast<std::byte*>(data), size});
      case ZIP_SOURCE_SEEK: {
        const zip_int64_t to = zip_source_seek_compute_offset(
            position_, source_.size(), data, size, &last_);
        if (to < 0) return -1;
        position_ = static_cast<std::uint64_t>(to);
        return 0;
      }
      case ZIP_SOURCE_TELL:
        return static_cast<zip_int64_t>(position_);
      case ZIP_SOURCE_STAT: {
        auto* about = static_cast<zip_stat_t*>(data);
        zip_stat_init(about);
        about->valid = ZIP_STAT_SIZE;
        about->size = source_.size();
        return sizeof(*about);
      }
      case ZIP_SOURCE_ERROR:
        return zip_error_to_data(&last_, data, size);
      case ZIP_SOURCE_CLOSE:
      case ZIP_SOURCE_FREE:
        return 0;
      case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(
            ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL,
            ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR, ZIP_SOURCE_CLOSE,
            ZIP_SOURCE_FREE, -1);
      default:
        zip_error_set(&last_, ZIP_ER_OPNOTSUPP, 0);
        return -1;
    }
  }

  zip_int64_t read(std::span<std::byte> into) {
    const std::uint64_t rest =
        source_.size() - std::min(position_, source_.size());
    into = into.first(std::min<std::uint64_t>(into.size(), rest));
    if (auto status = source_.read(position_, into); !status) {
      if (!error_) error_ = std::move(status).error();
      zip_error_set(&last_, ZIP_ER_READ, EIO);
      return -1;
    }
    position_ += into.size();
    return static_cast<zip_int64_t>(into.size());
  }

  const Source& source_;
  std::uint64_t position_ = 0;
  zip_error_t last_;
  std::optional<Error> error_;
};

// An archive that libzip has open.
//
// Owns     libzip's handle.
// Threads  one.
class Unzip {
 public:
  explicit Unzip(const Source& source) : cursor_(source) {
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t* bytes =
        zip_source_function_create(&Cursor::serve, &cursor_, &error);
    if (bytes != nullptr) {
      // libzip makes each entry's date with mktime(), which takes a lock of the
      // C library's anyway. With one that ThreadSanitizer knows as well, it
      // sees that these calls do not race.
      static std::mutex one_at_a_time;
      const std::lock_guard lock(one_at_a_time);
      handle_.reset(zip_open_from_source(bytes, ZIP_RDONLY, &error));
      if (!handle_) zip_source_free(bytes);
    }
    if (!handle_) opening_ = zip_error_strerror(&error);
    zip_error_fini(&error);
  }
  Unzip(const Unzip&) = delete;
  Unzip& operator=(const Unzip&) = delete;

  zip_t* get() const noexcept { return handle_.get(); }

  // The source's error where it has one; else what libzip says.
  tl::unexpected<Error> failed(std::string_view what,
                               zip_file_t* file = nullptr) {
    if (auto error = cursor_.take_error())
      return tl::unexpected<Error>(std::move(error->note(what)));
    const char* why = file != nullptr ? zip_file_strerror(file)
                      : handle_       ? zip_strerror(handle_.get())
                                      : opening_.c_str();
    return fail(Code::kCorrupt, what, " failed: ", why);
  }

 private:
  struct Discard {
    void operator()(zip_t* zip) const { zip_discard(zip); }
  };
  Cursor cursor_;
  std::unique_ptr<zip_t, Discard> handle_;
  std::string opening_;
};

struct CloseFile {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};

Result<Entry> describe(Unzip& zip, std::uint64_t index) {
  zip_stat_t about;
  constexpr zip_uint64_t kNeeded = ZIP_STAT_NAME | ZIP_STAT_SIZE |
                                   ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD |
                                   ZIP_STAT_ENCRYPTION_METHOD;
  if (zip_stat_index(zip.get(), index, ZIP_FL_ENC_RAW, &about) != 0 ||
      (about.valid & kNeeded) != kNeeded)
    return zip.failed("reading line " + std::to_string(index) +
                      " of the directory");
  std::string name(about.name);
  if (name.empty())
    return fail(Code::kCorrupt, "entry ", index, " has no name");
  if (about.encryption_method != ZIP_EM_NONE)
    return fail(Code::kUnsupported, "entry '", name, "' is encrypted");
  const bool is_stored = about.comp_method == ZIP_CM_STORE;
  if (!is_stored && about.comp_method != ZIP_CM_DEFLATE)
    return fail(Code::kUnsupported, "entry '", name,
                "' is compressed by method ", about.comp_method,
                ", expected 0 (stored) or 8 (deflated)");
  if (is_stored && about.comp_size != about.size)
    return fail(Code::kCorrupt, "stored entry '", name, "' has ",
                about.comp_size, " bytes and says ", about.size);
  if (!is_stored && about.size / kMostDeflateRatio > about.comp_size)
    return fail(Code::kCorrupt, "entry '", name, "' of ", about.comp_size,
                " bytes says that it unpacks to ", about.size);
  return Entry{std::move(name), about.size, about.comp_size, index};
}

Result<std::vector<std::byte>> read_entry(Unzip& zip, const Entry& entry) {
  const std::string reading = "reading entry '" + entry.name + "'";
  if (zip.get() == nullptr) return zip.failed(reading);
  const std::unique_ptr<zip_file_t, CloseFile> file(
      zip_fopen_index(zip.get(), entry.index, 0));
  if (!file) return zip.failed(reading);
  std::vector<std::byte> bytes(static_cast<std::size_t>(entry.size));
  std::span<std::byte> rest(bytes);
  while (!rest.empty()) {
    const zip_int64_t n = zip_fread(file.get(), rest.data(), rest.size());
    if (n < 0) return zip.failed(reading, file.get());
    if (n == 0)
      return fail(Code::kCorrupt, reading, " ended ", rest.size(), " of ",
                  entry.size, " bytes early");
    rest = rest.subspan(static_cast<std::size_t>(n));
  }
  // The checksum is compared when the end is met.
  std::byte more{};
  if (zip_fread(file.get(), &more, 1) != 0)
    return zip.failed(reading, file.get());
  return bytes;
}

}  // namespace

bool Archive::is_archive(base::Bytes head) noexcept {
  // A local file header, or the end of an archive that is empty.
  return head.size() >= 4 && (std::memcmp(head.data(), "PK\3\4", 4) == 0 ||
                              std::memcmp(head.data(), "PK\5\6", 4) == 0);
}

// The open archive, for one thread at a time: opening reads the whole
// directory, which may have thousands of lines.
//
// Owns     the source, and libzip's view of it.
// Threads  any.
class Archive::Reader {
 public:
  explicit Reader(Source source) : source_(std::move(source)) {}

  const Source& source() const noexcept { return source_; }

  // What `body` makes of the archive. After an error libzip reads no more: the
  // next one starts anew.
  template <typename Body>
  auto use(Body&& body) {
    const std::lock_guard lock(mutex_);
    if (!zip_) zip_.emplace(source_);
    auto result = body(*zip_);
    if (!result) zip_.reset();
    return result;
  }

 private:
  Source source_;
  std::mutex mutex_;
  std::optional<Unzip> zip_;
};

Archive::Archive(Source source)
    : reader_(std::make_unique<Reader>(std::move(source))) {}
Archive::Archive(Archive&&) noexcept = default;
Archive& Archive::operator=(Archive&&) noexcept = default;
Archive::~Archive() = default;

Result<Archive> Archive::open(Source source) {
  Archive archive(std::move(source));
  BERTH_CHECK(archive.list());
  return archive;
}

Status Archive::list() {
  const std::uint64_t size = reader_->source().size();
  // libzip takes no bytes at all for an archive without entries.
  if (size < kSmallest)
    return fail(Code::kCorrupt, "reading the zip directory failed: expected ",
                kSmallest, " bytes or more, found ", size);
  BERTH_CHECK(reader_->use([&](Unzip& zip) -> Status {
    if (zip.get() == nullptr) return zip.failed("reading the zip directory");
    const auto count =
        static_cast<std::uint64_t>(zip_get_num_entries(zip.get(), 0));
    for (std::uint64_t i = 0; i < count; ++i) {
      BERTH_TRY(Entry entry, describe(zip, i));
      if (!base::fits(0, entry.packed_size, size))
        return fail(Code::kCorrupt, "entry '", entry.name, "' has ",
                    entry.packed_size, " bytes, the archive ", size);
      entries_.push_back(std::move(entry));
    }
    return ok();
  }));
  std::unordered_set<std::string_view> names;
  for (const Entry& entry : entries_)
    if (!names.insert(entry.name).second)
      return fail(Code::kCorrupt, "two entries are called '", entry.name, "'");
  return ok();
}

const Entry* Archive::find(std::string_view name) const noexcept {
  const auto found = std::ranges::find(entries_, name, &Entry::name);
  return found == entries_.end() ? nullptr : &*found;
}

Result<std::vector<std::byte>> Archive::read(const Entry& entry) const {
  return reader_->use([&](Unzip& zip) { return read_entry(zip, entry); });
}

}  // namespace berth::pack
