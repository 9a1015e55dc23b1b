#include "ayatori/io/harwell_boeing.hpp"

#include "ayatori/io/compression/codec.hpp"
#include "ayatori/io/harwell_boeing/number_format.hpp"
#include "complex_matrix.hpp"
#include "dense.hpp"
#include "error_text.hpp"
#include "harwell_boeing_samples.hpp"
#include "mutation.hpp"
#include "temporary_folder.hpp"

namespace ayatori::io {
namespace {

LoadedMatrix load(const std::string& text) {
  return read_harwell_boeing(comm::Comm::world(), MemoryBytes(text, "A.rua"));
}

Dense dense(const std::string& text) {
  return to_dense(comm::Comm::world(), load(text).block);
}

std::string error_of(const std::string& text) {
  return input_error_of([&] { load(text); });
}

std::string replaced(std::string text, const std::string& part, const std::string& by) {
  const auto at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return text.replace(at, part.size(), by);
}

TEST(HarwellBoeing, ReadsTheGuidesMatrix) {
  const Dense expected =
      dense_rows({{1, -3, 0, -1, 0}, {0, 0, -2, 0, 3}, {2, 0, 0, 0, 0}, {0, 4, 0, -4, 0}, {5, 0, -5, 0, 6}});
  EXPECT_EQ(dense(guide_matrix()).value, expected.value);
  EXPECT_EQ(dense(compress_gzip(guide_matrix())).value, expected.value);
  const auto loaded = load(guide_matrix());
  EXPECT_EQ(loaded.facts.name, "A.rua");
  EXPECT_EQ(loaded.facts.format, "harwell-boeing");
  EXPECT_FALSE(loaded.facts.declared_symmetric);
  EXPECT_EQ(loaded.facts.bytes, static_cast<std::int64_t>(guide_matrix().size()));
}

TEST(HarwellBoeing, ReadsEverySymmetry) {
  EXPECT_EQ(dense(symmetric_matrix()).value, dense_rows({{2, -1, 0}, {-1, 2, 0.5}, {0, 0.5, 4}}).value);
  EXPECT_TRUE(load(symmetric_matrix()).facts.declared_symmetric);
  EXPECT_EQ(dense(skew_matrix()).value, dense_rows({{0, -2, 0}, {2, 0, 7}, {0, -7, 0}}).value);
  EXPECT_EQ(dense(pattern_matrix()).value, dense_rows({{1, 0, 1, 0}, {0, 1, 1, 0}}).value);
}

TEST(HarwellBoeing, ReadsComplexOnesOfEverySymmetry) {
  using namespace std::complex_literals;
  const sparse::Complex a = 1.0 + 1i;
  const sparse::Complex b = -5.0 + 1i;
  expect_complex(load(complex_matrix('U')), {{2, 0, 0}, {a, 4, 0}, {0, b, 0}});
  expect_complex(load(complex_matrix('S')), {{2, a, 0}, {a, 4, b}, {0, b, 0}});
  expect_complex(load(complex_matrix('H')), {{2, conj(a), 0}, {a, 4, conj(b)}, {0, b, 0}});
  expect_complex(load(replaced(replaced(complex_matrix('Z'), "3 3 4", "3 3 2"),
                               "  1  3  5  5\n  1  2  2  3\n"
                               "    2.00    0.00    1.00\n    1.00    4.00    0.00\n   -5.00    1.00\n",
                               "  1  2  3  3\n  2  3\n    1.00    1.00   -5.00\n    1.00\n")),
                 {{0, -a, 0}, {a, 0, -b}, {0, b, 0}});
  EXPECT_TRUE(load(complex_matrix('H')).facts.declared_symmetric);
  EXPECT_FALSE(load(complex_matrix('S')).facts.declared_symmetric);
  EXPECT_TRUE(harwell_boeing_is_complex(MemoryBytes(complex_matrix('U'))));
  EXPECT_FALSE(harwell_boeing_is_complex(MemoryBytes(guide_matrix())));
}

TEST(HarwellBoeing, ComplexErrorsNameTheLine) {
  const std::string good = complex_matrix('H');
  EXPECT_TRUE(
      contains(error_of(replaced(good, "    1.00    4.00    0.00", "    1.00    4.00    0.50")),
               "line 9: a hermitian matrix is real on its diagonal, but row 2 has the imaginary part 0.5"));
  EXPECT_TRUE(contains(error_of(good.substr(0, good.find("   -5.00"))),
                       "line 9: the file ends here, after 6 of 8 values"));
}

TEST(HarwellBoeing, ReadsWhatScipyWrites) {
  const Dense integers = dense_rows({{2, 1, 0, -1}, {0, 3, 0, 0}, {0, 0, 4, 0}, {0, 0, 0, 5}});
  EXPECT_EQ(dense(scipy_integer_matrix()).value, integers.value);
  EXPECT_EQ(dense(replaced(scipy_integer_matrix(), "IUA", "RUA")).value, integers.value);
  const std::string reals = "  2.  1.  3.  4. -1.  5.\n";
  const auto as_reals =
      replaced(replaced(scipy_integer_matrix(), "(26I3)\n", "(20F4.0)\n"), "  2  1  3  4 -1  5\n", reals);
  EXPECT_EQ(dense(as_reals).value, integers.value);
  EXPECT_EQ(dense(scipy_int8_matrix()).value, dense_rows({{2, -128, 0}, {1, 3, 0}, {0, -128, 4}}).value);
  EXPECT_EQ(
      dense(scipy_real_matrix()).value,
      dense_rows({{1.5, 0, -100, 0}, {0, -7, 1e-120, 0}, {-3, 0, 1e100, -1e-200}, {0, 2.5, 0, -0.1}}).value);
}

TEST(HarwellBoeing, LinesOutsideTheirColumns) {
  const auto with = [](const std::string& part, const std::string& by) {
    return replaced(guide_matrix(), part, by);
  };
  const auto good = dense(guide_matrix()).value;
  EXPECT_EQ(dense(with("  1  4  6  8 10 12", "1 4 6 8 10 12")).value, good);
  EXPECT_EQ(dense(with("  1  3  5  1  4", "     1  3   5  1  4")).value, good);
  const std::string last = " 6.00000000E+00\n";
  EXPECT_EQ(dense(with(last, "                    6.0\n")).value, good);
  const std::string second = "-2.00000000E+00-5.00000000E+00-1.00000000E+00-4.00000000E+00 3.00000000E+00";
  EXPECT_EQ(dense(with(second, "-2.0 -5.0E0 -1.D0 -4.   3.0")).value, good);
  EXPECT_EQ(dense(with(second, "-2.0 -5.0 -1.0 -4.0 3")).value, good);  // as printf("%g") writes them
  // What could be read in two ways is refused: too few or too many, or a point that the format would place.
  for (const std::string bad :
       {"-2.0-5.0 -1.0 -4.0 3.0", "-2.0 -5.0 -1.0 -4.0", "-2.0 -5.0 -1.0 -4.0 3.0 7.0",
        "-2.0 -5.0 -1.0 -4.0 123456789", "-2.0 -5.0 -1.0 -4.0 3.0x"})
    EXPECT_TRUE(contains(error_of(with(second, bad)), "line 8: ")) << bad;
  // The end of so long a line is not known: 3 could be 3.14.
  const std::string too_long = "-2.0 -5.0 -1.0 -4.0 " + std::string(1002, ' ') + "3.14";
  EXPECT_TRUE(contains(error_of(with(second, too_long)), "line 8: the line is longer than"));
}

TEST(HarwellBoeing, ReadsFromAFile) {
  const auto world = comm::Comm::world();
  const TemporaryFolder folder(world);
  const auto loaded = read_harwell_boeing(world, folder.file("A.rsa", symmetric_matrix()));
  EXPECT_EQ(to_dense(world, loaded.block).value, dense(symmetric_matrix()).value);
  EXPECT_TRUE(
      contains(input_error_of([&] { read_harwell_boeing(world, folder.path("none")); }), "cannot be opened"));
}

TEST(HarwellBoeing, ManyRanksOfManyColumns) {
  // Column j holds rows j and j + 1 (of 1 .. 200), over lines of unequal fill.
  const int n = 200;
  std::string pointers;
  std::string indices;
  std::string values;
  const auto append = [](std::string& text, int k, int per_line, const std::string& field) {
    text += field + ((k + 1) % per_line == 0 ? "\n" : "");
  };
  int entries = 0;
  for (int j = 1; j <= n; ++j) {
    append(pointers, j - 1, 7, fmt::format("{:6}", entries + 1));
    for (int i = j; i <= std::min(j + 1, n); ++i, ++entries) {
      append(indices, entries, 11, fmt::format("{:4}", i));
      append(values, entries, 3, fmt::format("{:8.1f}", 1000.0 * j + i));
    }
  }
  append(pointers, n, 7, fmt::format("{:6}", entries + 1));
  const Dense matrix =
      dense(harwell_boeing_header("RUA", fmt::format("{} {} {} 0", n, n, entries), "(7I6)(11I4)(3F8.1)") +
            pointers + "\n" + indices + "\n" + values + "\n");
  for (int i = 1; i <= n; ++i) {
    for (int j = 1; j <= n; ++j) {
      ASSERT_EQ(matrix(i - 1, j - 1), i == j || i == j + 1 ? 1000.0 * j + i : 0) << i << ' ' << j;
    }
  }
}

TEST(HarwellBoeing, TellsItsFiles) {
  for (const auto& text : {guide_matrix(), symmetric_matrix(), skew_matrix(), pattern_matrix()}) {
    EXPECT_TRUE(looks_like_harwell_boeing(text));
    EXPECT_FALSE(looks_like_harwell_boeing(std::string_view(text).substr(0, 80)));
  }
  EXPECT_FALSE(looks_like_harwell_boeing(""));
  EXPECT_FALSE(
      looks_like_harwell_boeing("%%MatrixMarket matrix coordinate real general\n3 3 1\n1 1 4\n2 2 2\n"));
  EXPECT_FALSE(looks_like_harwell_boeing("title\n1 2 3 4\nabc\n(16I5)\n"));
}

TEST(HarwellBoeing, HeaderErrorsNameTheLine) {
  const auto sizes = [](const std::string& type, const std::string& text) {
    return error_of(harwell_boeing_header(type, text));
  };
  EXPECT_EQ(error_of(""), "A.rua, line 0: the file ends here, within its header");
  EXPECT_TRUE(contains(error_of("title\n1 2 3 4\n"), "line 2: the file ends here, within its header"));
  EXPECT_TRUE(contains(error_of("title\n1 2 x 4\n"), "line 2: 'x' is not a whole number"));
  EXPECT_TRUE(contains(error_of("title\n1 2\n"), "line 2: four or five counts of lines"));
  EXPECT_TRUE(contains(sizes("RSE", "5 5 11 0"), "line 3: type 'RSE': elemental matrices are not supported"));
  EXPECT_TRUE(contains(sizes("RHA", "5 5 11 0"), "line 3: type 'RHA': known are"));
  EXPECT_TRUE(contains(sizes("RU", "5 5 11 0"), "line 3: 'RU' is no matrix type"));
  EXPECT_TRUE(contains(sizes("RUA", "5 5"), "line 3: the type and three or four sizes"));
  EXPECT_TRUE(contains(sizes("RUA", "5 -5 11 0"), "line 3: -5 is negative"));
  EXPECT_TRUE(contains(sizes("RUA", "0 5 0 0"), "line 3: the matrix is empty"));
  EXPECT_TRUE(contains(sizes("RSA", "5 4 3 0"), "line 3: 5 x 4 is not square, as type 'RSA' requires"));
  EXPECT_TRUE(contains(sizes("RUA", "99999999999999999999 5 3 0"), "is not a whole number below 2^63"));
  for (const std::string huge :
       {"5 5 9223372036854775807", "5 9223372036854775807 5", "9223372036854775807 5 5", "5 9000 5"}) {
    EXPECT_TRUE(contains(sizes("RUA", huge + " 0"), "cannot be in a file of")) << huge;
  }
  EXPECT_TRUE(contains(error_of(harwell_boeing_header("RUA", "5 5 11 0", "(16I5)", "3 1 1 0 0")),
                       "that none are stored"));
}

TEST(HarwellBoeing, BadFormats) {
  const auto error = [](const std::string& formats) {
    return error_of(harwell_boeing_header("RUA", "5 5 11 0", formats));
  };
  EXPECT_TRUE(contains(error("(16I5) (16I5)"), "line 4: 3 formats in parentheses are expected"));
  EXPECT_TRUE(contains(error("16I5 16I5 4E20.12"), "line 4: 3 formats in parentheses"));
  for (const std::string bad : {"()", "(I)", "(16F5)", "(0I5)", "(16I0)", "(*)", "(16I5,X)", "(99999I5)",
                                "(9I999)", "(2(2(2(2(I5)))))"}) {
    EXPECT_TRUE(
        contains(error(bad + "(16I5)(4E20.12)"), "line 4: '" + bad + "' is not a format like (16I5)"));
  }
  for (const std::string bad :
       {"(4I)", "(4E)", "(4E20.)", "(-4E20.12)", "(1P)", "(4E20.12,4X)", "(10(200E20.12))"}) {
    EXPECT_TRUE(contains(error("(16I5)(16I5)" + bad), "line 4: '" + bad + "' is not a format like (10F8.2)"));
  }
}

TEST(HarwellBoeing, DataErrorsNameTheLine) {
  const std::string good = guide_matrix();
  const auto with = [&](const std::string& part, const std::string& by) {
    return error_of(replaced(good, part, by));
  };
  const std::string pointers = "  1  4  6  8 10 12";
  EXPECT_TRUE(contains(with(pointers, "  1  4  6  5 10 12"),
                       "A.rua, line 5: pointer 4 is 5: pointers ascend from 1 to 12"));
  EXPECT_TRUE(contains(with(pointers, "  0  4  6  8 10 12"), "line 5: pointer 1 is 0"));
  EXPECT_TRUE(contains(with(pointers, "  1  4  6  8 10 11"), "line 5: pointer 6 is 11"));
  EXPECT_TRUE(contains(with(pointers, "  1  4  6  8 99 12"), "line 5: pointer 5 is 99"));
  EXPECT_TRUE(contains(with(pointers, "  1  4 x6  8 10 12"), "line 5: 'x6' is not a whole number"));
  EXPECT_TRUE(contains(with(pointers, "  1  4  6  8"), "line 5: a number is missing: its field is blank"));
  EXPECT_TRUE(
      contains(with(pointers, pointers + "  1"), "line 5: the line is longer than its 6 pointers of 3"));
  EXPECT_TRUE(contains(with("  1  3  5", "  1  6  5"), "line 6: row number 6, but there are rows 1 to 5"));
  EXPECT_TRUE(contains(with("  1  3  5", "  1  0  5"), "line 6: row number 0, but"));
  EXPECT_TRUE(contains(with("-2.00000000E+00", "  two          "), "line 8: 'two' is not a number"));
  EXPECT_TRUE(contains(with("-2.00000000E+00", "            NaN"), "line 8: 'NaN' is "));
  EXPECT_TRUE(contains(with("-2.00000000E+00", "       Infinity"), "line 8: 'Infinity' is "));
  EXPECT_TRUE(contains(with("-2.00000000E+00", "     2.0E+99999"), "line 8: '2.0E+99999' is "));
  EXPECT_TRUE(contains(with(" 6.00000000E+00\n", ""), "line 8: the file ends here, after 10 of 11 values"));
  EXPECT_TRUE(contains(error_of(good + "1.0\n"), "line 10: something follows the last entry"));
  EXPECT_TRUE(contains(error_of(good.substr(0, good.find(pointers))),
                       "line 4: the file ends here, after 0 of 6 pointers"));
  EXPECT_TRUE(
      contains(error_of(replaced(skew_matrix(), "       2       3\n       2", "       1       3\n       2")),
               "nothing on its diagonal, but row number 1 in column 1"));
  const std::string cut = compress_gzip(good);
  EXPECT_TRUE(contains(error_of(cut.substr(0, cut.size() / 2)), "A.rua"));
}

TEST(NumberFormat, Formats) {
  const auto expect = [](const char* text, int per_line, int width, int decimals, int scale) {
    const auto format = harwell_boeing::parse_value_format(text);
    EXPECT_EQ(format.per_line, per_line) << text;
    EXPECT_EQ(format.width, width) << text;
    EXPECT_EQ(format.decimals, decimals) << text;
    EXPECT_EQ(format.scale, scale) << text;
  };
  expect("(10F8.2)", 10, 8, 2, 0);
  expect("(1P,4D20.12)", 4, 20, 12, 1);
  expect("(1P4E16.8)", 4, 16, 8, 1);
  expect("( -2P , 3 G 12.4 )", 3, 12, 4, -2);
  expect("(3E26.18E3)", 3, 26, 18, 0);
  expect("(4(1pe20.12))", 4, 20, 12, 1);
  expect("(E9)", 1, 9, 0, 0);
  expect("(4(1X,E19.12))", 4, 20, 12, 0);
  EXPECT_FALSE(harwell_boeing::parse_value_format("(E9)").integer);
  EXPECT_TRUE(harwell_boeing::parse_value_format("(26I3)").integer);
}

TEST(NumberFormat, RealsAsFortranReadsThem) {
  const auto read = [](const char* field, const char* format) {
    return harwell_boeing::parse_value_field(field, harwell_boeing::parse_value_format(format));
  };
  EXPECT_EQ(read("  1.5 ", "(F8.2)"), 1.5);
  EXPECT_EQ(read("  1234", "(F8.2)"), 12.34);  // the point that the format implies
  EXPECT_EQ(read("  -7", "(F8.0)"), -7);
  EXPECT_EQ(read("  -7", "(E20.12)"), -7);  // as printf("%20.12g") writes it, and no Fortran program
  EXPECT_EQ(read("  -7", "(1P,E20.12)"), -7);
  EXPECT_EQ(read("1234567", "(E10.3)"), 1234.567);
  EXPECT_EQ(read("1.5D+02", "(1P,D10.3)"), 150);  // the scale factor is for numbers without exponent
  EXPECT_EQ(read("1.5", "(1P,D10.3)"), 0.15);
  EXPECT_EQ(read("1.25-101", "(E10.3)"), 1.25e-101);
  EXPECT_EQ(read("-1.25+101", "(E10.3)"), -1.25e101);
  EXPECT_EQ(read("1.5E 05", "(E10.3)"), 1.5e5);
  EXPECT_EQ(read("25E1", "(E10.1)"), 25);
  EXPECT_EQ(read("1.e-99999", "(E10.3)"), 0);
  for (const char* bad : {"", "   ", "1 5", "1.5E", "E5", "1.5X", ".", "+", "1.5-", "1-5E3", "0x10", "1..5",
                          "1.5E5.5", "nan"}) {
    EXPECT_THROW(read(bad, "(E10.3)"), InputError) << bad;
  }
}

TEST(NumberFormat, NumbersOutsideColumns) {
  const auto split = [](const char* line) {
    std::string text;
    for (const auto number : harwell_boeing::split_numbers(line)) text += "[" + std::string(number) + "]";
    return text;
  };
  EXPECT_EQ(split(""), "");
  EXPECT_EQ(split("  1 \t-2 "), "[1][-2]");
  EXPECT_EQ(split("5-128+3"), "[5][-128][+3]");
  EXPECT_EQ(split("1.0E+00-2.5D-101+3.E5"), "[1.0E+00][-2.5D-101][+3.E5]");
  EXPECT_EQ(split("1.0-101 -.5"), "[1.0-101][-.5]");
}

TEST(HarwellBoeing, MutationsParseOrAreRefused) {
  const auto world = comm::Comm::world();
  expect_parsed_or_refused(
      {guide_matrix(), symmetric_matrix(), skew_matrix(), pattern_matrix(), scipy_int8_matrix(),
       scipy_real_matrix(), complex_matrix('H'), compress_gzip(guide_matrix())},
      "0123456789+-.DEI() \n\r", world.size() == 1 ? 20000 : 2000,
      [&](const ByteSource& source) { read_harwell_boeing(world, source); });
}

}  // namespace
}  // namespace ayatori::io
