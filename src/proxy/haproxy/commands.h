// Runtime API commands that turn what a worker holds into what is wanted. Order: servers, certificates, then names, so
// that no name leads to a backend that is not ready; what is removed loses its name first. Pure; used by the driver.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/haproxy/book.h"
#include "proxy/haproxy/image.h"

namespace fairlead::proxy::haproxy {

// A backslash before what the command line would take for its own: backslash, space, ";".
std::string escape(std::string_view text);

// How the answer to a command is judged: HAProxy's answers are texts for people.
enum class Expect {
    nothing,     // set server state, weight; add map
    address,     // "changed from", "no need to change"
    registered,  // add server
    removal,     // del map: a key that is not there is as good
};
bool good_answer(Expect expect, std::string_view answer);

struct Command {
    std::string text = {};
    Expect expect = Expect::nothing;
    bool operator==(const Command&) const = default;
};

// One certificate or CA; several commands with payload each.
struct PemChange {
    std::string name = {};  // host of a certificate, backend of a CA
    bool remove = false, add = false;
    bool operator==(const PemChange&) const = default;
};

struct Work {
    std::vector<Command> servers;
    std::vector<PemChange> certificates, authorities;
    std::vector<Command> names;
    std::vector<MapFile> replace;  // whole maps, because so many entries change that one by one takes longer
    bool slots = false;            // a backend needs more slots, which its class can only get by a reload
    [[nodiscard]] bool empty() const;
    [[nodiscard]] std::size_t size() const;
};

// `set map` and `del map` walk the whole map in 2.6 (12 ns an entry), a replacement adds each entry once (3 us).
inline constexpr std::size_t replace_from = 250;

// `directory` is where the maps are: their names for the Runtime API.
Work work(const Image& held, const Image& wanted, const Touched& touched, const std::vector<PoolClass>& classes,
          std::string_view directory);

// What the worker holds once the work is done.
void follow(Image& held, const Image& wanted, const Touched& touched);

}  // namespace fairlead::proxy::haproxy
