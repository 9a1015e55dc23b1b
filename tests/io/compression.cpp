#include "ayatori/io/compression/codec.hpp"

#include "ayatori/base/random.hpp"
#include "ayatori/io/matrix_source.hpp"
#include "compressed_samples.hpp"
#include "dense.hpp"
#include "error_text.hpp"
#include "temporary_folder.hpp"
#include "world.hpp"

namespace ayatori::io {
namespace {

/// Those that this build can read.
std::vector<CompressedSample> readable_samples() {
  std::vector<CompressedSample> samples;
  for (const auto& sample : compressed_samples)
    if (codec_of(MemoryBytes(sample.bytes))->make_decoder != nullptr) samples.push_back(sample);
  return samples;
}

std::string decompressed(std::string_view bytes) {
  return all_bytes(MemoryBytes(bytes, "A"), 1 << 20);
}

std::string fault_of(std::string_view bytes) {
  try {
    decompressed(bytes);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Compression, EveryOneIsKnownByItsFirstBytes) {
  for (const auto& [program, bytes] : compressed_samples) {
    ASSERT_NE(codec_of(MemoryBytes(bytes)), nullptr) << program;
    EXPECT_EQ(codec_of(MemoryBytes(bytes))->name, program);
  }
  EXPECT_EQ(codec_of(MemoryBytes(compress_gzip("a")))->name, "gzip");
  EXPECT_EQ(codec_of(MemoryBytes(compressed_text)), nullptr);
}

TEST(Compression, MembersFollowOneAnother) {
  for (const auto& [program, bytes] : readable_samples()) {
    EXPECT_EQ(decompressed(bytes), compressed_text) << program;
    const std::string twice = std::string(bytes) + std::string(bytes);
    EXPECT_EQ(decompressed(twice), std::string(compressed_text) + std::string(compressed_text)) << program;
    EXPECT_EQ(decompressed(twice + std::string(8, 0)).size(), 2 * compressed_text.size()) << program;
  }
}

TEST(Compression, WhatIsWrittenIsReadBack) {
  const TemporaryFolder folder(world());
  const auto block = load_matrix(world(), "convection2d:n=20").block;
  save_matrix(world(), folder.path("A.mtx"), block);
  const auto text = content_of(folder.path("A.mtx"));
  for (const Codec& codec : codecs()) {
    const auto path = folder.path("A.mtx").append(codec.suffix);
    if (codec.compress == nullptr) {
      EXPECT_TRUE(
          contains(input_error_of([&] { save_matrix(world(), path, block); }), "ends in one of .mtx, "));
      continue;
    }
    save_matrix(world(), path, block);
    const auto bytes = content_of(path);
    EXPECT_EQ(codec_of(MemoryBytes(bytes))->name, codec.name);
    EXPECT_EQ(decompressed(bytes), text) << codec.name;
  }
  for (const char* path : {"A.npz.xz", "A.gz", "A.mtx.zip"})
    EXPECT_TRUE(contains(input_error_of([&] { save_matrix(world(), path, block); }),
                         "ends in one of .mtx, .mtx.gz, "));
}

TEST(Compression, EveryCutIsNoticed) {
  for (const auto& [program, bytes] : readable_samples()) {
    for (std::size_t size = codec_of(MemoryBytes(bytes))->magic.size(); size < bytes.size(); ++size) {
      EXPECT_EQ(fault_of(bytes.substr(0, size)),
                fmt::format("A: the {}'ed data end early: the file is truncated", program))
          << size;
    }
  }
}

TEST(Compression, DamageIsNoticed) {
  for (const auto& [program, bytes] : readable_samples()) {
    std::string damaged(bytes);
    damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 0x10);
    EXPECT_TRUE(contains(fault_of(damaged), fmt::format("A: the {}'ed data are damaged: ", program)));
    EXPECT_TRUE(contains(fault_of(std::string(bytes) + "rubbish"), "A: the ")) << program;
  }
}

TEST(Compression, WhateverIsDamagedNothingBreaks) {
  for (const auto& [program, bytes] : readable_samples()) {
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
      std::string damaged(bytes);
      const auto at = random_bits(seed, 0) % damaged.size();
      damaged[at] = static_cast<char>(random_bits(seed, 1));
      const std::string fault = fault_of(damaged);
      EXPECT_EQ(fault.find('\n'), std::string::npos) << program << ": " << fault;
    }
  }
}

TEST(Compression, MatricesOnAnyNumberOfRanks) {
  const TemporaryFolder folder(world());
  for (const auto& [program, bytes] : readable_samples()) {
    const auto path = folder.file("A." + std::string(program), std::string(bytes));
    const LoadedMatrix loaded = load_matrix(world(), path);
    EXPECT_EQ(to_dense(world(), loaded.block).value, (std::vector<double>{4, -1, -1, 0}));
    EXPECT_EQ(loaded.facts.bytes, static_cast<std::int64_t>(bytes.size()));
    const auto cut = folder.file("cut", std::string(bytes.substr(0, bytes.size() - 9)));
    EXPECT_TRUE(contains(input_error_of([&] { load_matrix(world(), cut); }), "the file is truncated"));
  }
}

TEST(Compression, FilesThatAreReadAtAnyPlaceAreDecompressedFirst) {
  const TemporaryFolder folder(world());
  const auto block = load_matrix(world(), "poisson2d-5:n=4").block;
  save_matrix(world(), folder.path("A.petsc"), block);
  const auto path = folder.file("A.petsc.gz", compress_gzip(content_of(folder.path("A.petsc"))));
  const auto again = load_matrix(world(), path);
  EXPECT_EQ(again.facts.format, "petsc");
  EXPECT_EQ(again.facts.name, path);
  EXPECT_EQ(to_dense(world(), again.block).value, to_dense(world(), block).value);

  const auto partition = sparse::RowPartition::even(5, world().size());
  const Array<double> ones(static_cast<std::size_t>(partition.range(world().rank()).size()), 1.0);
  save_vector(world(), folder.path("b.petsc"), ones, partition);
  const auto b = folder.file("b.gz", compress_gzip(content_of(folder.path("b.petsc"))));
  EXPECT_EQ(load_vector(world(), b, partition), ones);
}

}  // namespace
}  // namespace ayatori::io
