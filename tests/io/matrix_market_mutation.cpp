#include "ayatori/base/random.hpp"
#include "ayatori/io/matrix_market.hpp"
#include "error_text.hpp"
#include "matrix_market_sources.hpp"

namespace ayatori::io {
namespace {

/// Small valid files of every kind.
std::vector<std::string> valid_files() {
  const std::string banner = "%%MatrixMarket matrix ";
  std::vector<std::string> files{
      banner + "coordinate real general\n% c\n3 4 5\n1 1 1.5\n2 4 -2\n3 1 1e3\n3 3 .25\n1 2 7.\n",
      banner + "coordinate real symmetric\r\n3 3 4\r\n1 1 4\r\n2 1 -1d2\r\n3 1 2\r\n3 3 6\r\n",
      banner + "coordinate integer skew-symmetric\n3 3 2\n2 1 5\n3 1 -2\n",
      banner + "coordinate pattern symmetric\n3 3 3\n1 1\n2 1\n3 3",
      banner + "array real general\n2 3\n1.2345678901234567\n2\n3\n4\n% c\n\n5\n6\n",
      banner + "array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n",
      banner + "array integer skew-symmetric\n3 3\n1\n2\n3\n",
      banner + "coordinate complex hermitian\n3 3 3\n1 1 4 0\n2 1 -1d2 .5\n3 1 2 -7e1\n",
      banner + "array complex hermitian\n2 2\n1 0\n2 3\n4 0\n"};
  files.push_back(compress_gzip(files[0]));
  return files;
}

/// Random numbers in order.
class Random {
 public:
  explicit Random(std::uint64_t seed) : seed_(seed) {}
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_bits(seed_, index_++) % n); }

 private:
  std::uint64_t seed_;
  std::uint64_t index_ = 0;
};

void mutate(std::string& bytes, Random& random) {
  static const std::string likely = "0123456789+-.eEdD \n\r\t%naif";
  const std::size_t at = random.below(bytes.size() + 1);
  const std::size_t length = random.below(4) + 1;
  switch (random.below(6)) {
    case 0:
      if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
      break;
    case 1:
      if (at < bytes.size()) bytes[at] = likely[random.below(likely.size())];
      break;
    case 2:
      bytes.insert(at, length, likely[random.below(likely.size())]);
      break;
    case 3:
      bytes.insert(at, 1, static_cast<char>(random.below(256)));
      break;
    case 4:
      bytes.erase(at, length);
      break;
    default:
      if (random.below(4) == 0) bytes.resize(at);
      break;
  }
}

/// Either a matrix or an InputError, on every rank.
TEST(MatrixMarketMutation, ParsesOrThrowsInputError) {
  const auto world = comm::Comm::world();
  const int mutations = world.size() == 1 ? 20'000 : 2'000;
  const auto files = valid_files();
  int refused = 0;
  for (int m = 0; m < mutations; ++m) {
    Random random(static_cast<std::uint64_t>(m));
    std::string bytes = files[random.below(files.size())];
    for (std::size_t k = random.below(4) + 1; k > 0; --k) mutate(bytes, random);
    const MemoryBytes source(bytes, "A.mtx");
    try {
      read_matrix_market(world, source, {static_cast<std::int64_t>(random.below(40)) + 1});
    } catch (const InputError& error) {
      EXPECT_TRUE(error.agreed());
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, mutations / 4);
  EXPECT_LT(refused, mutations);
}

}  // namespace
}  // namespace ayatori::io
