#pragma once

#include <string_view>
#include <vector>

namespace ayatori::collectives {

/// How the members of a group, ranks that differ in one digit alone, pass on what a letter moves.
enum class Exchange {
  direct,    ///< everybody to all partners at once, in one stage
  ring,      ///< to the next member, in as many stages as there are partners: one message at a time
  doubling,  ///< what is held doubles: as many stages as the number of members has binary digits
  swing  ///< likewise, to either side in turns: after the nearest the distances are 1, 3, 5, 11, ... instead
         ///< of 2, 4, 8, 16, ... For powers of two
};
inline constexpr Exchange all_exchanges[] = {Exchange::direct, Exchange::ring, Exchange::doubling,
                                             Exchange::swing};
std::string_view name_of(Exchange exchange);  ///< "direct", "ring", "doubling", "swing"
/// By that name. Throws InputError.
Exchange exchange(std::string_view name);
/// Whether that many can exchange so.
bool can_exchange(Exchange exchange, int members);
/// Whether combine_on_all() knows it: round a ring and in a swing members would combine in different orders
/// and get different bits.
bool can_combine(Exchange exchange);
/// Whether pairwise() knows it.
bool can_pair(Exchange exchange);

/// A message of a group as the member at one of its ends sees it. It carries the parts of `count` members,
/// from that of member `first` on, cyclically.
struct GroupMessage {
  int stage;
  bool is_sent;
  int peer;
  int first;
  int count;
};

/// A tree from member 0 whose links carry the parts of all members behind them: everybody at once, a chain,
/// the binomial tree (of any number of members), or the one whose links are those of a swing (Bine: De Sensi
/// et al. 2025). By ascending stages.
std::vector<GroupMessage> one_to_all(Exchange exchange, int members, int me);
int stages_one_to_all(Exchange exchange, int members);

/// The part of every member to all others, each once: at once, round the ring, over circulant graphs (Bruck
/// et al. 1997; any number of members), or between pairs that swing (De Sensi et al. 2024).
std::vector<GroupMessage> all_to_all(Exchange exchange, int members, int me);
int stages_all_to_all(Exchange exchange, int members);

/// What everybody contributes, combined on everybody: at once, or by recursive doubling, before which members
/// beyond the last power of two fold into others, and get the result in the end.
struct CombineMessage {
  enum class Kind { send, combine, replace };
  int stage;
  Kind kind;
  int peer;
};
std::vector<CombineMessage> combine_on_all(Exchange exchange, int members, int me);
int stages_combine_on_all(Exchange exchange, int members);

/// A message of pairs that swap what they have for each other, each pair once: at once, or a pair at a time.
struct PairMessage {
  int stage;
  int peer;
};
std::vector<PairMessage> pairwise(Exchange exchange, int members, int me);
int stages_pairwise(Exchange exchange, int members);

}  // namespace ayatori::collectives
