#include "ayatori/collectives/words/exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ayatori/base/error.hpp"

namespace ayatori::collectives {

namespace {

/// Binary digits of the numbers of members.
int bits_of(int members) {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(members - 1)));
}

/// A swing: how far the partner of an even member is at this stage. An odd one's is as far on the other side.
int swing_distance(int stage) {
  int distance = 1;
  for (int power = -2, s = 0; s < stage; ++s, power *= -2) distance += power;
  return distance;
}

int swing_partner(int members, int me, int stage) {
  const int distance = me % 2 == 0 ? swing_distance(stage) : -swing_distance(stage);
  return (me + distance + members) % members;
}

/// The first of the members, cyclically, that have met one after this many stages of a swing: as many as 2 to
/// the power of them.
int first_met(int members, int me, int stages) {
  int behind = 0;  // members behind an even one; an odd one's are ahead
  int ahead = 0;
  for (int stage = 0; stage < stages; ++stage) {
    const int distance = swing_distance(stage);
    if (distance > 0)
      ahead = distance + behind;
    else
      behind = ahead - distance;
  }
  return (me - (me % 2 == 0 ? behind : ahead) + members) % members;
}

/// The way from member 0 down to `me`: at every stage whoever holds what `me` is behind passes the half that
/// its partner has met on to that one.
std::vector<GroupMessage> swing_to_all(int members, int me) {
  std::vector<GroupMessage> messages;
  int holder = 0;
  const int stages = bits_of(members);
  for (int stage = 0; stage < stages; ++stage) {
    const int met = stages - 1 - stage;
    const int peer = swing_partner(members, holder, met);
    const int first = first_met(members, peer, met);
    const int count = 1 << met;
    const bool is_behind = (me - first + members) % members < count;
    if (holder == me) messages.push_back({stage, true, peer, first, count});
    if (is_behind && peer == me) messages.push_back({stage, false, holder, first, count});
    if (is_behind) holder = peer;
  }
  return messages;
}

}  // namespace

std::string_view name_of(Exchange exchange) {
  switch (exchange) {
    case Exchange::direct:
      return "direct";
    case Exchange::ring:
      return "ring";
    case Exchange::doubling:
      return "doubling";
    case Exchange::swing:
      break;
  }
  return "swing";
}

Exchange exchange(std::string_view name) {
  std::string known;
  for (const Exchange exchange : all_exchanges) {
    if (name == name_of(exchange)) return exchange;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", name_of(exchange));
  }
  throw InputError(fmt::format("there is no exchange '{}'; known: {}", name, known));
}

bool can_exchange(Exchange exchange, int members) {
  return exchange != Exchange::swing || std::has_single_bit(static_cast<unsigned>(members));
}

bool can_combine(Exchange exchange) {
  return exchange == Exchange::direct || exchange == Exchange::doubling;
}

bool can_pair(Exchange exchange) {
  return exchange == Exchange::direct || exchange == Exchange::ring;
}

int stages_one_to_all(Exchange exchange, int members) {
  if (members < 2) return 0;
  if (exchange == Exchange::direct) return 1;
  return exchange == Exchange::ring ? members - 1 : bits_of(members);
}

std::vector<GroupMessage> one_to_all(Exchange exchange, int members, int me) {
  std::vector<GroupMessage> messages;
  switch (exchange) {
    case Exchange::direct:
      if (me > 0) return {{0, false, 0, me, 1}};
      for (int peer = 1; peer < members; ++peer) messages.push_back({0, true, peer, peer, 1});
      break;
    case Exchange::ring:
      if (me > 0) messages.push_back({me - 1, false, me - 1, me, members - me});
      if (me + 1 < members) messages.push_back({me, true, me + 1, me + 1, members - me - 1});
      break;
    case Exchange::doubling:
      for (int stage = 0, half = 1 << bits_of(members) >> 1; half > 0; ++stage, half /= 2) {
        const auto behind = [&](int member) { return std::min(half, members - member); };
        if (me % (2 * half) == half) messages.push_back({stage, false, me - half, me, behind(me)});
        if (me % (2 * half) == 0 && me + half < members)
          messages.push_back({stage, true, me + half, me + half, behind(me + half)});
      }
      break;
    case Exchange::swing:
      return swing_to_all(members, me);
  }
  return messages;
}

int stages_all_to_all(Exchange exchange, int members) {
  return stages_one_to_all(exchange, members);
}

std::vector<GroupMessage> all_to_all(Exchange exchange, int members, int me) {
  std::vector<GroupMessage> messages;
  const auto member = [&](int number) { return (number % members + members) % members; };
  switch (exchange) {
    case Exchange::direct:
      for (int peer = 0; peer < members; ++peer) {
        if (peer == me) continue;
        messages.push_back({0, true, peer, me, 1});
        messages.push_back({0, false, peer, peer, 1});
      }
      break;
    case Exchange::ring:
      for (int stage = 0; stage + 1 < members; ++stage) {
        messages.push_back({stage, true, member(me + 1), member(me - stage), 1});
        messages.push_back({stage, false, member(me - 1), member(me - 1 - stage), 1});
      }
      break;
    case Exchange::doubling:
      for (int stage = 0, held = 1; held < members; ++stage, held *= 2) {
        const int count = std::min(held, members - held);
        messages.push_back({stage, true, member(me - held), me, count});
        messages.push_back({stage, false, member(me + held), member(me + held), count});
      }
      break;
    case Exchange::swing:
      for (int stage = 0; stage < bits_of(members); ++stage) {
        const int peer = swing_partner(members, me, stage);
        messages.push_back({stage, true, peer, first_met(members, me, stage), 1 << stage});
        messages.push_back({stage, false, peer, first_met(members, peer, stage), 1 << stage});
      }
      break;
  }
  return messages;
}

int stages_combine_on_all(Exchange exchange, int members) {
  if (members < 2) return 0;
  if (exchange == Exchange::direct) return 1;
  const bool folds = !std::has_single_bit(static_cast<unsigned>(members));
  return folds ? bits_of(members) - 1 + 2 : bits_of(members);
}

std::vector<CombineMessage> combine_on_all(Exchange exchange, int members, int me) {
  using Kind = CombineMessage::Kind;
  std::vector<CombineMessage> messages;
  if (exchange == Exchange::direct) {
    for (int peer = 0; peer < members; ++peer) {
      if (peer == me) continue;
      messages.push_back({0, Kind::send, peer});
      messages.push_back({0, Kind::combine, peer});
    }
    return messages;
  }
  // Members 2 i + 1 fold into 2 i, so that those that combine are neighbours.
  const int core = static_cast<int>(std::bit_floor(static_cast<unsigned>(members)));
  const int folded = members - core;
  const int last = stages_combine_on_all(exchange, members) - 1;
  if (me < 2 * folded && me % 2 == 1) return {{0, Kind::send, me - 1}, {last, Kind::replace, me - 1}};
  if (me < 2 * folded) messages.push_back({0, Kind::combine, me + 1});
  const int number = me < 2 * folded ? me / 2 : me - folded;
  int stage = folded > 0 ? 1 : 0;
  for (int distance = 1; distance < core; distance *= 2, ++stage) {
    const int other = number ^ distance;
    const int peer = other < folded ? 2 * other : other + folded;
    messages.push_back({stage, Kind::send, peer});
    messages.push_back({stage, Kind::combine, peer});
  }
  if (me < 2 * folded) messages.push_back({last, Kind::send, me + 1});
  return messages;
}

int stages_pairwise(Exchange exchange, int members) {
  if (members < 2) return 0;
  return exchange == Exchange::direct ? 1 : members;
}

std::vector<PairMessage> pairwise(Exchange exchange, int members, int me) {
  std::vector<PairMessage> messages;
  for (int number = 0; number < members; ++number) {
    // Whoever is paired by me + peer = number (mod members) is so from both sides.
    const int peer = exchange == Exchange::direct ? number : (number - me + members) % members;
    if (peer != me) messages.push_back({exchange == Exchange::direct ? 0 : number, peer});
  }
  return messages;
}

}  // namespace ayatori::collectives
