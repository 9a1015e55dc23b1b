#pragma once

#include <string_view>
#include <vector>

namespace ayatori::collectives {

/// How the members of a group, ranks that differ in one digit alone, pass on what a letter moves.
enum class Exchange {
  direct,   ///< everybody to all partners at once, in one stage
  ring,     ///< to the next member, in as many stages as there are partners: one message at a time
  doubling  ///< what is held doubles: as many stages as the number of members has binary digits
};
std::string_view name_of(Exchange exchange);  ///< "direct", "ring", "doubling"
/// By that name. Throws InputError.
Exchange exchange(std::string_view name);

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
/// or the binomial tree (of any number of members). By ascending stages.
std::vector<GroupMessage> one_to_all(Exchange exchange, int members, int me);
int stages_one_to_all(Exchange exchange, int members);

/// The part of every member to all others, each once: at once, round the ring, or over circulant graphs
/// (Bruck et al. 1997; any number of members).
std::vector<GroupMessage> all_to_all(Exchange exchange, int members, int me);
int stages_all_to_all(Exchange exchange, int members);

/// What everybody contributes, combined on everybody: at once, or by recursive doubling, before which members
/// beyond the last power of two fold into others, and get the result in the end. Not for rings.
struct CombineMessage {
  enum class Kind { send, combine, replace };
  int stage;
  Kind kind;
  int peer;
};
std::vector<CombineMessage> combine_on_all(Exchange exchange, int members, int me);
int stages_combine_on_all(Exchange exchange, int members);

/// Of pairs that swap what they have for each other, each pair once: at once, or a pair at a time.
struct PairMessage {
  int stage;
  int peer;
};
std::vector<PairMessage> pairwise(Exchange exchange, int members, int me);
int stages_pairwise(Exchange exchange, int members);

}  // namespace ayatori::collectives
