// A static destructor that creates a thread_local with a destructor, while the
// library is being unmapped.

namespace {

int* destroyed = nullptr;

struct Note {
  bool touched = false;
  ~Note() {
    if (destroyed != nullptr) ++*destroyed;
  }
};

thread_local Note note;

struct Late {
  ~Late() { note.touched = true; }
};

Late late;

}  // namespace

extern "C" __attribute__((visibility("default"))) void report_destroyed(
    int* counter) {
  destroyed = counter;
}
