#ifdef AYATORI_HAS_HDF5

#include "ayatori/io/hdf5/file.hpp"

#include <hdf5.h>

#include <algorithm>
#include <array>

#include "ayatori/base/error.hpp"

namespace ayatori::io::hdf5 {

namespace {

static_assert(std::is_same_v<Id, hid_t>);

/// Two numbers called so are a complex one: h5py's and MATLAB's.
constexpr std::array<std::array<std::string_view, 2>, 2> names_of_parts{{{"r", "i"}, {"real", "imag"}}};

Handle type_handle(Id id) {
  return {id, H5Tclose};
}
Handle space_handle(Id id) {
  return {id, H5Sclose};
}
Handle list_handle(Id id) {
  return {id, H5Pclose};
}

/// The name of a member of a compound type.
std::string member_name(Id type, unsigned member) {
  char* const name = H5Tget_member_name(type, member);
  std::string copy(name == nullptr ? "" : name);
  H5free_memory(name);
  return copy;
}

bool is_number(H5T_class_t kind) {
  return kind == H5T_INTEGER || kind == H5T_FLOAT || kind == H5T_ENUM;
}

bool is_complex(Id type) {
  if (H5Tget_class(type) != H5T_COMPOUND || H5Tget_nmembers(type) != 2) return false;
  if (!is_number(H5Tget_member_class(type, 0)) || !is_number(H5Tget_member_class(type, 1))) return false;
  const std::array names{member_name(type, 0), member_name(type, 1)};
  return std::ranges::any_of(names_of_parts,
                             [&](const auto& known) { return std::ranges::equal(names, known); });
}

/// Pairs of doubles whose parts are called as those of `type`, or, without one, as h5py does.
Handle pairs(Id type = -1) {
  Handle memory = type_handle(H5Tcreate(H5T_COMPOUND, 2 * sizeof(double)));
  for (unsigned part = 0; part < 2; ++part) {
    const std::string name = type < 0 ? std::string(names_of_parts[0][part]) : member_name(type, part);
    H5Tinsert(memory.id(), name.c_str(), part * sizeof(double), H5T_NATIVE_DOUBLE);
  }
  return memory;
}

/// The text that read(type, destination) reads, of this type; empty if it is none, or more than one.
template <class Read>
std::string read_text(Id type, Id space, Read&& read) {
  if (H5Tget_class(type) != H5T_STRING || H5Sget_simple_extent_npoints(space) != 1) return {};
  if (H5Tis_variable_str(type) > 0) {
    char* text = nullptr;
    if (read(type, &text) < 0 || text == nullptr) return {};
    std::string copy(text);
    H5free_memory(text);
    return copy;
  }
  constexpr std::size_t longest = 256;
  std::string text(H5Tget_size(type), '\0');
  if (text.size() > longest || read(type, text.data()) < 0) return {};
  return text.substr(0, text.find('\0'));
}

/// Bytes of the chunks in which the numbers lie that follow each other, which are read piece by piece: so
/// many have to stay decompressed. 0: the array is not in chunks.
std::size_t bytes_of_chunks(Id dataset, const ArrayFacts& facts) {
  const Handle list = list_handle(H5Dget_create_plist(dataset));
  const Handle type = type_handle(H5Dget_type(dataset));
  std::array<hsize_t, 2> chunk{};
  if (H5Pget_layout(list.id()) != H5D_CHUNKED) return 0;
  const int dimensions = H5Pget_chunk(list.id(), static_cast<int>(chunk.size()), chunk.data());
  if (dimensions != std::ssize(facts.extents)) return 0;
  std::size_t bytes = H5Tget_size(type.id()) * chunk[0];
  if (dimensions == 2) {
    const auto columns = static_cast<hsize_t>(facts.extents[1]);
    bytes *= (columns + chunk[1] - 1) / chunk[1] * chunk[1];
  }
  return bytes;
}

/// Doubles, pairs of them, or integers of 64 bits, in the order of an array.
class ArrayStream final : public ByteStream {
 public:
  ArrayStream(const File& file, const std::string& path, const ArrayFacts& facts, bool as_integers)
      : file_(file),
        facts_(facts),
        dataset_(open(path)),
        space_(file.checked(space_handle(H5Dget_space(dataset_.id())))),
        type_(file.checked(memory_type(as_integers))),
        bytes_(static_cast<std::int64_t>(H5Tget_size(type_.id()))) {}

  /// Whole numbers only.
  std::size_t read(std::span<char> destination) override {
    const std::int64_t wanted = std::min(std::ssize(destination) / bytes_, facts_.count - position_);
    for (std::int64_t done = 0; done < wanted;)
      done += read_piece(wanted - done, destination.data() + done * bytes_);
    return static_cast<std::size_t>(wanted * bytes_);
  }
  void skip(std::int64_t bytes) override { position_ += std::min(bytes / bytes_, facts_.count - position_); }

 private:
  Handle open(const std::string& path) const {
    constexpr std::size_t default_bytes = std::size_t{1} << 20;
    constexpr std::size_t most_bytes = std::size_t{1} << 28;
    const auto opened = [&](Id list) {
      return file_.checked(Handle(H5Dopen2(file_.id(), path.c_str(), list), H5Dclose));
    };
    // Closed before it is opened again: all that are open share one cache.
    const std::size_t bytes = std::min(bytes_of_chunks(opened(H5P_DEFAULT).id(), facts_), most_bytes);
    const Handle list = file_.checked(list_handle(H5Pcreate(H5P_DATASET_ACCESS)));
    file_.checked(H5Pset_chunk_cache(list.id(), H5D_CHUNK_CACHE_NSLOTS_DEFAULT,
                                     std::max(bytes, default_bytes), H5D_CHUNK_CACHE_W0_DEFAULT));
    return opened(list.id());
  }
  Handle memory_type(bool as_integers) const {
    if (!facts_.is_complex) return type_handle(H5Tcopy(as_integers ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE));
    const Handle stored = type_handle(H5Dget_type(dataset_.id()));
    return pairs(stored.id());
  }

  /// Reads at most this many: whole rows, or what is left of one. Gives how many.
  std::int64_t read_piece(std::int64_t most, char* destination) {
    std::array<hsize_t, 2> start{static_cast<hsize_t>(position_), 0};
    std::array<hsize_t, 2> size{static_cast<hsize_t>(most), 1};
    std::int64_t count = most;
    if (facts_.extents.size() == 2) {
      const std::int64_t columns = facts_.extents[1];
      const std::int64_t column = position_ % columns;
      const std::int64_t rows = column == 0 ? std::max<std::int64_t>(most / columns, 1) : 1;
      const std::int64_t in_row = std::min(columns - column, most);
      start = {static_cast<hsize_t>(position_ / columns), static_cast<hsize_t>(column)};
      size = {static_cast<hsize_t>(rows), static_cast<hsize_t>(in_row)};
      count = rows * in_row;
    }
    const auto numbers = static_cast<hsize_t>(count);
    const Handle memory = file_.checked(space_handle(H5Screate_simple(1, &numbers, nullptr)));
    file_.checked(
        H5Sselect_hyperslab(space_.id(), H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr));
    file_.checked(H5Dread(dataset_.id(), type_.id(), memory.id(), space_.id(), H5P_DEFAULT, destination));
    position_ += count;
    return count;
  }

  const File& file_;
  const ArrayFacts& facts_;
  Handle dataset_;
  Handle space_;
  Handle type_;
  std::int64_t bytes_;
  std::int64_t position_ = 0;
};

/// Throws InputError about a compression that the library lacks: others have it as a plug-in.
void check_filters(const File& file, Id dataset, const std::string& name) {
  const Handle list = file.checked(list_handle(H5Dget_create_plist(dataset)));
  const int filters = file.checked(H5Pget_nfilters(list.id()));
  for (unsigned k = 0; k < static_cast<unsigned>(filters); ++k) {
    unsigned flags = 0;
    std::size_t values = 0;
    std::array<char, 64> called{};
    const H5Z_filter_t filter = file.checked(
        H5Pget_filter2(list.id(), k, &flags, &values, nullptr, called.size() - 1, called.data(), nullptr));
    if (H5Zfilter_avail(filter) > 0) continue;
    throw InputError(fmt::format(
        "{}: compressed by {} (filter {}), which this HDF5 library cannot read: in Python, with h5py: "
        "ayatori.save('A.npz', ayatori.load('A.h5'))",
        name, in_quotes(called.data()), filter));
  }
}

/// What is not in the file cannot be read: sizes that are damaged would take all memory.
void check_room(const File& file, Id dataset, const std::string& name, std::int64_t count) {
  constexpr std::int64_t harmless = 4096;
  constexpr std::int64_t most_per_byte = 1024;
  const auto bytes = static_cast<std::int64_t>(H5Dget_storage_size(dataset));
  if (count / most_per_byte > std::min(bytes, file.source().size()) + harmless)
    throw InputError(
        fmt::format("{}: {} numbers are out of all proportion to the {} bytes of them", name, count, bytes));
}

}  // namespace

QuietErrors::QuietErrors() {
  H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

QuietErrors::~QuietErrors() {
  H5Eset_auto2(H5E_DEFAULT, print_, data_);
}

std::string last_error() {
  std::string text;
  const auto keep_first = [](unsigned number, const H5E_error2_t* error, void* data) -> herr_t {
    if (number == 0 && error->desc != nullptr) *static_cast<std::string*>(data) = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &text);
  std::ranges::replace(text, '\n', ' ');
  return text.empty() ? "it is damaged" : text;
}

File::File(const ByteSource& source) : source_(source), file_(open()) {}

void File::fail() const {
  throw InputError(fmt::format("{}: the HDF5 file cannot be read: {}", source_.name(), last_error()));
}

Handle File::open() const {
  const Handle list = checked(list_handle(H5Pcreate(H5P_FILE_ACCESS)));
  std::string content;
  std::string path = source_.path();
  if (path.empty()) {
    path = fmt::format("in memory, {}", fmt::ptr(this));  // the library tells images apart by it
    content.resize(static_cast<std::size_t>(source_.size()));
    content.resize(source_.read(0, content));
    constexpr std::size_t increment = std::size_t{1} << 20;
    checked(H5Pset_fapl_core(list.id(), increment, false));
    checked(H5Pset_file_image(list.id(), content.data(), content.size()));
  } else {
#if H5_VERSION_GE(1, 12, 1) || (H5_VERS_MINOR == 10 && H5_VERS_RELEASE >= 7)
    // Parallel file systems often have no locks, and nobody else writes what is read here.
    checked(H5Pset_file_locking(list.id(), false, true));
#endif
  }
  return checked(Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, list.id()), H5Fclose));
}

std::vector<Object> File::objects() const {
  std::vector<Object> found;
  const auto keep = [](hid_t /*root*/, const char* name, const auto* info, void* data) -> herr_t {
    const bool is_group = info->type == H5O_TYPE_GROUP;
    if (!is_group && info->type != H5O_TYPE_DATASET) return 0;
    const std::string_view word(name);
    static_cast<std::vector<Object>*>(data)->push_back({word == "." ? "/" : std::string(word), is_group});
    return 0;
  };
  checked(H5Ovisit2(id(), H5_INDEX_NAME, H5_ITER_INC, keep, &found, H5O_INFO_BASIC));
  return found;
}

bool File::has(const std::string& name) const {
  return checked(H5Lexists(id(), name.c_str(), H5P_DEFAULT)) > 0;
}

std::optional<ArrayFacts> File::array(const std::string& name) const {
  const Handle object = checked(Handle(H5Oopen(id(), name.c_str(), H5P_DEFAULT), H5Oclose));
  if (H5Iget_type(object.id()) != H5I_DATASET) return std::nullopt;
  const Handle space = checked(space_handle(H5Dget_space(object.id())));
  const Handle type = checked(type_handle(H5Dget_type(object.id())));
  std::array<hsize_t, 2> extents{};
  const int dimensions = checked(H5Sget_simple_extent_ndims(space.id()));
  if (dimensions < 1 || dimensions > std::ssize(extents)) return std::nullopt;
  const auto kind = H5Tget_class(type.id());
  ArrayFacts facts{{}, 1, kind == H5T_INTEGER || kind == H5T_ENUM, is_complex(type.id())};
  if (!is_number(kind) && !facts.is_complex) return std::nullopt;
  checked(H5Sget_simple_extent_dims(space.id(), extents.data(), nullptr));
  facts.extents.assign(extents.begin(), extents.begin() + dimensions);
  for (const std::int64_t extent : facts.extents) {
    if (extent < 0 || __builtin_mul_overflow(facts.count, extent, &facts.count))
      throw InputError(fmt::format("{}: the sizes of {} are damaged", source_.name(), name));
  }
  return facts;
}

bool File::has_attribute(const std::string& object, const std::string& attribute) const {
  return checked(H5Aexists_by_name(id(), object.c_str(), attribute.c_str(), H5P_DEFAULT)) > 0;
}

std::vector<std::int64_t> File::integers(const std::string& object, const std::string& attribute) const {
  if (!has_attribute(object, attribute)) return {};
  const Handle opened = checked(
      Handle(H5Aopen_by_name(id(), object.c_str(), attribute.c_str(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose));
  const Handle type = checked(type_handle(H5Aget_type(opened.id())));
  const Handle space = checked(space_handle(H5Aget_space(opened.id())));
  constexpr hssize_t most = 8;
  const hssize_t count = H5Sget_simple_extent_npoints(space.id());
  if (H5Tget_class(type.id()) != H5T_INTEGER || count < 1 || count > most) return {};
  std::vector<std::int64_t> values(static_cast<std::size_t>(count));
  checked(H5Aread(opened.id(), H5T_NATIVE_INT64, values.data()));
  return values;
}

std::string File::text(const std::string& object, const std::string& attribute) const {
  if (!has_attribute(object, attribute)) return {};
  const Handle opened = checked(
      Handle(H5Aopen_by_name(id(), object.c_str(), attribute.c_str(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose));
  const Handle type = checked(type_handle(H5Aget_type(opened.id())));
  const Handle space = checked(space_handle(H5Aget_space(opened.id())));
  return read_text(type.id(), space.id(),
                   [&](Id as, void* destination) { return H5Aread(opened.id(), as, destination); });
}

std::string File::text(const std::string& array) const {
  const Handle object = checked(Handle(H5Oopen(id(), array.c_str(), H5P_DEFAULT), H5Oclose));
  if (H5Iget_type(object.id()) != H5I_DATASET) return {};
  const Handle type = checked(type_handle(H5Dget_type(object.id())));
  const Handle space = checked(space_handle(H5Dget_space(object.id())));
  return read_text(type.id(), space.id(), [&](Id as, void* destination) {
    return H5Dread(object.id(), as, H5S_ALL, H5S_ALL, H5P_DEFAULT, destination);
  });
}

Numbers::Numbers(const File& file, const std::string& name)
    : file_(file), path_(name), name_(fmt::format("{}, {}", file.source().name(), name)) {
  auto facts = file.has(name) ? file.array(name) : std::nullopt;
  if (!facts) throw InputError(name_ + ": missing, or no array of numbers of one or two dimensions");
  facts_ = std::move(*facts);
  const Handle dataset = file.checked(Handle(H5Dopen2(file.id(), name.c_str(), H5P_DEFAULT), H5Dclose));
  check_filters(file, dataset.id(), name_);
  check_room(file, dataset.id(), name_, facts_.count);
}

NumberStream Numbers::integers() {
  if (!facts_.is_whole) throw InputError(name_ + ": not of integers, which are needed");
  stream_ = std::make_unique<ArrayStream>(file_, path_, facts_, true);
  return {*stream_, {'i', 8, false, false}, name_, "numbers"};
}

NumberStream Numbers::reals() {
  stream_ = std::make_unique<ArrayStream>(file_, path_, facts_, false);
  return {*stream_, {'f', 8, false, facts_.is_complex}, name_, "numbers"};
}

std::string file_with(const std::string& name, std::span<const double> numbers, bool is_complex) {
  const QuietErrors quiet;
  const auto checked = [](auto result) {
    if (result < 0) throw EnvironmentError("an HDF5 file cannot be made: " + last_error());
    return result;
  };
  const Handle list = list_handle(checked(H5Pcreate(H5P_FILE_ACCESS)));
  constexpr std::size_t increment = std::size_t{1} << 20;
  checked(H5Pset_fapl_core(list.id(), increment, false));
  const Handle file(checked(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, list.id())), H5Fclose);
  const hsize_t count = numbers.size() / static_cast<std::size_t>(parts_of(is_complex));
  const Handle space = space_handle(checked(H5Screate_simple(1, &count, nullptr)));
  const Handle type = is_complex ? pairs() : type_handle(checked(H5Tcopy(H5T_NATIVE_DOUBLE)));
  const Handle creation = list_handle(checked(H5Pcreate(H5P_DATASET_CREATE)));
  checked(H5Pset_obj_track_times(creation.id(), false));  // the same x gives the same bytes
  const Handle dataset(checked(H5Dcreate2(file.id(), name.c_str(), type.id(), space.id(), H5P_DEFAULT,
                                          creation.id(), H5P_DEFAULT)),
                       H5Dclose);
  checked(H5Dwrite(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data()));
  checked(H5Fflush(file.id(), H5F_SCOPE_GLOBAL));
  const ssize_t bytes = checked(H5Fget_file_image(file.id(), nullptr, 0));
  std::string content(static_cast<std::size_t>(bytes), '\0');
  checked(H5Fget_file_image(file.id(), content.data(), content.size()));
  return content;
}

}  // namespace ayatori::io::hdf5

#endif  // AYATORI_HAS_HDF5
