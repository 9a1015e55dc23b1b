#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ayatori::machine {

/// What a message of `bytes` took.
struct TransferTime {
  double bytes;
  double seconds;
};

/// alpha + beta x for messages of `from` bytes and more, up to where the next piece begins.
struct TransferPiece {
  double from = 0;   ///< bytes
  double alpha = 0;  ///< seconds
  double beta = 0;   ///< seconds per byte
};

/// The time of a transfer as a function of its size (the alpha-beta model of Imamura, section 2), in pieces
/// where the MPI changes its protocol.
struct TransferModel {
  std::vector<TransferPiece> pieces;  ///< by ascending `from`, the first from 0
  double error = 0;                   ///< typical relative error of the fit, as a share: 0.05 is 5 %

  double seconds(double bytes) const;
  /// alpha of the first piece: what an empty message takes.
  double latency() const { return pieces.empty() ? 0 : pieces.front().alpha; }
  /// Bytes per second of a message that is long beyond measure; 0 if that has no limit.
  double bandwidth() const;
};

/// Fits the model to measured times by relative errors, robustly: a few bad points do not bend it. A further
/// piece has to pay for itself (Bayesian information criterion), and consists of three points at least.
/// No time is negative, nor any beta, nor the first piece's alpha. `times` by ascending size; without any the
/// model has no pieces.
TransferModel fit_transfers(std::span<const TransferTime> times);

}  // namespace ayatori::machine
