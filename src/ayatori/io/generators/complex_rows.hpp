#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "ayatori/io/generator.hpp"
#include "ayatori/sparse/complex_form.hpp"

namespace ayatori::io {

/// The real form of a complex matrix of `rows` rows that is described by its complex rows. Zero parts are
/// entries too: all blocks are full.
inline GeneratedMatrix real_form(std::int64_t rows,
                                 std::function<void(std::int64_t i, ComplexRowBuilder& row)> complex_row) {
  return {2 * rows, [complex_row = std::move(complex_row)](std::int64_t i, RowBuilder& row) {
            ComplexRowBuilder builder;
            complex_row(i / 2, builder);
            for (const auto& entry : builder.sorted()) {
              sparse::add_real_form(i / 2, entry.column, entry.value,
                                    [&](std::int64_t of_row, std::int64_t column, double value) {
                                      if (of_row == i) row.add(column, value);
                                    });
            }
          }};
}

}  // namespace ayatori::io
