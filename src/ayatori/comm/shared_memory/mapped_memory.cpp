#include "ayatori/comm/shared_memory/mapped_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <limits>
#include <string>
#include <utility>

namespace ayatori::comm {

namespace {

using Source = MappedMemory::Source;

/// A file without a name that lasts, closed with this.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  File& operator=(File&& other) = delete;
  ~File() {
    if (is_open()) close(descriptor_);
  }

  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

/// How processes find the file of the first one: by a number of which they make a path, and by what the
/// kernel says of it, since the same path may be another's in another container.
struct Place {
  std::int64_t number = -1;  ///< less than nothing: there is none
  std::int64_t device = 0;
  std::int64_t inode = 0;
};

constexpr std::int64_t most_descriptors = std::int64_t{1} << 31;

std::string path_of(Source source, std::int64_t number) {
  if (source == Source::dev_shm) return fmt::format("/dev/shm/ayatori-{:x}", number);
  return fmt::format("/proc/{}/fd/{}", number / most_descriptors, number % most_descriptors);
}

/// A signal is sent to who makes a file longer than that.
bool is_allowed(std::int64_t bytes) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
         (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= static_cast<rlim_t>(bytes));
}

/// Creates a file of this many bytes, none of which is there yet.
File create(Source source, std::int64_t bytes, Place& place) {
  if (!is_allowed(bytes)) return File(-1);
  std::int64_t number = 0;
  int descriptor = -1;
  if (source == Source::kernel) {
#ifdef MFD_CLOEXEC
    descriptor = memfd_create("ayatori", MFD_CLOEXEC);
#endif
    number = getpid() * most_descriptors + descriptor;
  } else {
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    number = (now ^ (std::int64_t{getpid()} << 32)) & std::numeric_limits<std::int64_t>::max();
    descriptor = open(path_of(source, number).c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  }
  File file(descriptor);
  struct stat facts {};
  if (file.is_open() && ftruncate(descriptor, bytes) == 0 && fstat(descriptor, &facts) == 0)
    place = {number, static_cast<std::int64_t>(facts.st_dev), static_cast<std::int64_t>(facts.st_ino)};
  return file;
}

/// Looks before it opens: what is not ours may be a device.
File open_at(Source source, const Place& place) {
  const std::string path = path_of(source, place.number);
  struct stat facts {};
  const bool is_ours = stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
                       static_cast<std::int64_t>(facts.st_dev) == place.device &&
                       static_cast<std::int64_t>(facts.st_ino) == place.inode;
  return File(is_ours ? open(path.c_str(), O_RDWR | O_CLOEXEC) : -1);
}

/// Asks for the pages from one byte to another; they are near the process that asks for them.
bool reserve(const File& file, std::int64_t from, std::int64_t to) {
  constexpr int most_signals = 1000;  // that interrupt it
  int error = EINTR;
  for (int k = 0; k < most_signals && error == EINTR; ++k)
    error = from < to ? posix_fallocate(file.descriptor(), from, to - from) : 0;
  return error == 0;
}

/// All of it, or null.
std::byte* map(const File& file, std::int64_t bytes) {
  void* const begin = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor(), 0);
  return begin == MAP_FAILED ? nullptr : static_cast<std::byte*>(begin);
}

/// Where parts begin, each on a page, and where the last one ends. Empty if a process wants none.
std::vector<std::int64_t> places_of(const std::vector<std::int64_t>& lengths) {
  if (std::ranges::min(lengths) < 0) return {};
  const std::int64_t page = sysconf(_SC_PAGESIZE);
  std::vector<std::int64_t> places(1, 0);
  for (const std::int64_t length : lengths)
    places.push_back(places.back() + std::max<std::int64_t>((length + page - 1) / page, 1) * page);
  return places;
}

/// Collective: from one source. Null, on all, if it does not give all that is wanted.
std::byte* map_from(Source source, int own, const std::vector<std::int64_t>& places,
                    const MappedMemory::Tell& tell) {
  const bool is_first = own == 0;
  Place place;
  File file = is_first ? create(source, places.back(), place) : File(-1);
  place = {tell(place.number)[0], tell(place.device)[0], tell(place.inode)[0]};
  std::byte* begin = nullptr;
  if (place.number >= 0) {
    const File opened = is_first ? std::move(file) : open_at(source, place);
    if (opened.is_open() && reserve(opened, places[own], places[own + 1])) begin = map(opened, places.back());
    const bool have_all = std::ranges::min(tell(begin != nullptr ? 1 : 0)) == 1;
    if (begin != nullptr && !have_all) munmap(std::exchange(begin, nullptr), places.back());
  }
  if (is_first && source == Source::dev_shm && place.number >= 0)
    unlink(path_of(source, place.number).c_str());
  return begin;
}

}  // namespace

std::optional<MappedMemory> MappedMemory::make(int own, std::int64_t bytes, const Tell& tell,
                                               std::span<const Source> from) {
  auto places = places_of(tell(bytes));
  if (places.empty()) return std::nullopt;
  for (const Source source : from) {
    if (std::byte* const begin = map_from(source, own, places, tell))
      return MappedMemory(begin, std::move(places));
  }
  return std::nullopt;
}

MappedMemory::MappedMemory(MappedMemory&& other) noexcept
    : begin_(std::exchange(other.begin_, nullptr)), places_(std::move(other.places_)) {}

MappedMemory& MappedMemory::operator=(MappedMemory&& other) noexcept {
  std::swap(begin_, other.begin_);
  std::swap(places_, other.places_);
  return *this;
}

MappedMemory::~MappedMemory() {
  if (begin_ != nullptr) munmap(begin_, places_.back());
}

}  // namespace ayatori::comm
