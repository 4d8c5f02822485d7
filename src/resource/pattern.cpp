// Compiles a regular expression to a deterministic automaton: text -> tree -> nondeterministic automaton -> subsets.
// All the work and all the recursion happen here, at start, over patterns that we wrote ourselves.
#include "resource/pattern.h"

#include <fmt/core.h>

#include <bitset>
#include <map>
#include <memory>
#include <optional>

namespace fairlead::resource {

namespace {

using ByteSet = std::bitset<256>;

constexpr std::size_t max_nesting = 100;  // groups within groups; keeps the recursion of the parser shallow
constexpr std::size_t max_repeat = 1000;  // in {n,m}
constexpr std::size_t max_nfa_states = 20'000;
constexpr std::size_t unbounded = static_cast<std::size_t>(-1);

struct Node {
    enum class Type { set, sequence, choice, repeat, begin, end } type = Type::sequence;
    ByteSet bytes;
    std::vector<std::unique_ptr<Node>> children;
    std::size_t low = 0, high = 0;
};
using Tree = std::unique_ptr<Node>;

Tree make(Node::Type type) {
    auto node = std::make_unique<Node>();
    node->type = type;
    return node;
}

ByteSet range(unsigned char low, unsigned char high) {
    ByteSet set;
    for (unsigned c = low; c <= high; ++c) set.set(c);
    return set;
}

std::optional<ByteSet> class_escape(char letter) {
    const ByteSet digits = range('0', '9');
    ByteSet word = digits | range('a', 'z') | range('A', 'Z');
    word.set('_');
    ByteSet space;
    for (const char c : {' ', '\t', '\n', '\r', '\f', '\v'}) space.set(static_cast<unsigned char>(c));
    switch (letter) {
        case 'd':
            return digits;
        case 'D':
            return ~digits;
        case 'w':
            return word;
        case 'W':
            return ~word;
        case 's':
            return space;
        case 'S':
            return ~space;
        default:
            return std::nullopt;
    }
}

std::optional<char> literal_escape(char letter) {
    switch (letter) {
        case 'n':
            return '\n';
        case 't':
            return '\t';
        case 'r':
            return '\r';
        case 'f':
            return '\f';
        case 'v':
            return '\v';
        default:
            break;
    }
    const bool alphanumeric =
        (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
    if (alphanumeric) return std::nullopt;  // \1, \b, \u...: not ours
    return letter;
}

class Parser {
public:
    explicit Parser(std::string_view text) : text_(text) {}

    Result<Tree> parse() {
        auto tree = choice(0);
        if (tree && at_ < text_.size()) return wrong(Errc::invalid, "')' without '('");
        return tree;
    }

private:
    tl::unexpected<Error> wrong(Errc code, std::string_view what) const {
        return fail(code, fmt::format("{} at offset {}", what, at_));
    }
    [[nodiscard]] bool more() const { return at_ < text_.size(); }
    bool take(char c) {
        if (!more() || text_[at_] != c) return false;
        ++at_;
        return true;
    }

    Result<Tree> choice(std::size_t depth) {
        if (depth > max_nesting) return wrong(Errc::too_large, "groups nested too deeply");
        Tree out = make(Node::Type::choice);
        do {
            auto branch = sequence(depth);
            if (!branch) return branch;
            out->children.push_back(std::move(*branch));
        } while (take('|'));
        return out;
    }

    Result<Tree> sequence(std::size_t depth) {
        Tree out = make(Node::Type::sequence);
        while (more() && text_[at_] != '|' && text_[at_] != ')') {
            auto one = atom(depth);
            if (!one) return one;
            auto repeated = repeats(std::move(*one));
            if (!repeated) return repeated;
            out->children.push_back(std::move(*repeated));
        }
        return out;
    }

    Result<Tree> atom(std::size_t depth) {
        const char c = text_[at_++];
        Tree out = make(Node::Type::set);
        switch (c) {
            case '^':
                return make(Node::Type::begin);
            case '$':
                return make(Node::Type::end);
            case '(':
                return group(depth);
            case '[':
                return bracket();
            case '.':
                out->bytes.set();
                out->bytes.reset('\n');
                return out;
            case '*':
            case '+':
            case '?':
                return wrong(Errc::invalid, "nothing to repeat");
            case '\\': {
                auto set = escape();
                if (!set) return fail(std::move(set.error()));
                out->bytes = *set;
                return out;
            }
            default:
                out->bytes.set(static_cast<unsigned char>(c));
                return out;
        }
    }

    Result<Tree> group(std::size_t depth) {
        if (take('?') && !take(':')) return wrong(Errc::unsupported, "look-around or a named group");
        auto inner = choice(depth + 1);
        if (inner && !take(')')) return wrong(Errc::invalid, "'(' without ')'");
        return inner;
    }

    Result<ByteSet> escape() {
        if (!more()) return wrong(Errc::invalid, "'\\' at the end");
        const char letter = text_[at_++];
        if (auto set = class_escape(letter)) return *set;
        const auto literal = literal_escape(letter);
        if (!literal) return wrong(Errc::unsupported, fmt::format("escape \\{}", letter));
        ByteSet set;
        set.set(static_cast<unsigned char>(*literal));
        return set;
    }

    Result<Tree> bracket() {
        const bool negated = take('^');
        Tree out = make(Node::Type::set);
        bool first = true;
        while (first || !take(']')) {
            if (!more()) return wrong(Errc::invalid, "'[' without ']'");
            first = false;
            auto low = bracket_item();
            if (!low) return fail(std::move(low.error()));
            const bool is_range = at_ + 1 < text_.size() && text_[at_] == '-' && text_[at_ + 1] != ']';
            if (!is_range || low->count() != 1) {
                out->bytes |= *low;
                continue;
            }
            ++at_;
            auto high = bracket_item();
            if (!high) return fail(std::move(high.error()));
            const auto from = low->_Find_first();
            const auto to = high->_Find_first();
            if (high->count() != 1 || to < from) return wrong(Errc::invalid, "range out of order");
            out->bytes |= range(static_cast<unsigned char>(from), static_cast<unsigned char>(to));
        }
        if (negated) out->bytes = ~out->bytes;
        return out;
    }

    Result<ByteSet> bracket_item() {
        if (take('\\')) return escape();
        const auto byte = static_cast<unsigned char>(text_[at_++]);
        if (byte >= 0x80) return wrong(Errc::unsupported, "a letter outside ASCII in a class");
        ByteSet set;
        set.set(byte);
        return set;
    }

    Result<Tree> repeats(Tree inner) {
        while (more()) {
            std::size_t low = 0;
            std::size_t high = unbounded;
            if (take('*')) {
            } else if (take('+')) {
                low = 1;
            } else if (take('?')) {
                high = 1;
            } else if (take('{')) {
                const auto from = number();
                if (!from) return wrong(Errc::invalid, "no number after '{'");
                low = high = *from;
                if (take(',')) high = number().value_or(unbounded);
                if (!take('}') || high < low) return wrong(Errc::invalid, "malformed {n,m}");
            } else {
                break;
            }
            if (low > max_repeat || (high != unbounded && high > max_repeat)) {
                return wrong(Errc::too_large, "repeat count above 1000");
            }
            Tree outer = make(Node::Type::repeat);
            outer->low = low;
            outer->high = high;
            outer->children.push_back(std::move(inner));
            inner = std::move(outer);
        }
        return inner;
    }

    std::optional<std::size_t> number() {
        std::optional<std::size_t> out;
        while (more() && text_[at_] >= '0' && text_[at_] <= '9' && out.value_or(0) <= max_repeat) {
            out = out.value_or(0) * 10 + static_cast<std::size_t>(text_[at_++] - '0');
        }
        return out;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

struct State {
    enum class Type { set, split, begin, end, accept } type = Type::accept;
    ByteSet bytes;
    std::size_t out = 0, other = 0;
};

class Automaton {
public:
    explicit Automaton(const Node& tree) {
        states_.push_back({});  // the accepting state
        start_ = emit(tree, 0);
    }
    [[nodiscard]] bool too_large() const { return states_.size() > max_nfa_states; }
    [[nodiscard]] const std::vector<State>& states() const { return states_; }

    using Set = std::vector<std::size_t>;
    [[nodiscard]] Set first() const {
        Set out{start_};
        return closed(out, true, false);
    }
    [[nodiscard]] Set step(const Set& from, unsigned char byte) const {
        Set out;
        for (const std::size_t id : from) {
            if (states_[id].type == State::Type::set && states_[id].bytes.test(byte)) out.push_back(states_[id].out);
        }
        return closed(out, false, false);
    }
    // Would the text match if it ended here?
    [[nodiscard]] bool accepts(const Set& at, bool at_begin) const {
        const Set all = closed(at, at_begin, true);
        return !all.empty() && all.front() == 0;
    }

private:
    // Builds backwards: the state to enter so as to match `node` and then go on at `next`.
    std::size_t emit(const Node& node, std::size_t next) {
        if (too_large()) return next;
        switch (node.type) {
            case Node::Type::set:
                return add({State::Type::set, node.bytes, next, 0});
            case Node::Type::begin:
                return add({State::Type::begin, {}, next, 0});
            case Node::Type::end:
                return add({State::Type::end, {}, next, 0});
            case Node::Type::sequence:
                for (auto child = node.children.rbegin(); child != node.children.rend(); ++child) {
                    next = emit(**child, next);
                }
                return next;
            case Node::Type::choice: {
                std::size_t out = emit(*node.children.back(), next);
                for (std::size_t i = node.children.size() - 1; i-- > 0;) {
                    const std::size_t branch = emit(*node.children[i], next);
                    out = add({State::Type::split, {}, branch, out});
                }
                return out;
            }
            case Node::Type::repeat:
                return emit_repeat(node, next);
        }
        return next;
    }

    std::size_t emit_repeat(const Node& node, std::size_t next) {
        const Node& child = *node.children.front();
        if (node.high == unbounded) {
            const std::size_t loop = add({State::Type::split, {}, 0, next});
            const std::size_t body = emit(child, loop);
            states_[loop].out = body;
            next = loop;
        } else {
            const std::size_t after = next;
            for (std::size_t i = node.low; i < node.high; ++i) {
                const std::size_t body = emit(child, next);
                next = add({State::Type::split, {}, body, after});
            }
        }
        for (std::size_t i = 0; i < node.low; ++i) next = emit(child, next);
        return next;
    }

    std::size_t add(State state) {
        states_.push_back(state);
        return states_.size() - 1;
    }

    // Follows everything that consumes no byte. Sorted.
    [[nodiscard]] Set closed(const Set& from, bool at_begin, bool at_end) const {
        std::vector<bool> seen(states_.size());
        Set open = from;
        Set out;
        while (!open.empty()) {
            const std::size_t id = open.back();
            open.pop_back();
            if (seen[id]) continue;
            seen[id] = true;
            const State& state = states_[id];
            switch (state.type) {
                case State::Type::split:
                    open.push_back(state.out);
                    open.push_back(state.other);
                    break;
                case State::Type::begin:
                    if (at_begin) open.push_back(state.out);
                    break;
                case State::Type::end:
                    if (at_end) open.push_back(state.out);
                    out.push_back(id);
                    break;
                case State::Type::set:
                case State::Type::accept:
                    out.push_back(id);
                    break;
            }
        }
        std::sort(out.begin(), out.end());
        return out;
    }

    std::vector<State> states_;
    std::size_t start_ = 0;
};

}  // namespace

Result<Pattern> Pattern::compile(std::string_view regex) {
    auto tree = Parser(regex).parse();
    if (!tree) return fail(std::move(tree.error()));
    const Automaton automaton(**tree);
    if (automaton.too_large()) return fail(Errc::too_large, "needs too many states");

    // Bytes that no set of the pattern tells apart share one column of the table.
    Pattern out;
    std::map<std::vector<bool>, std::size_t> classes;
    std::vector<unsigned char> representative;
    for (unsigned byte = 0; byte < 256; ++byte) {
        std::vector<bool> signature;
        for (const State& state : automaton.states()) signature.push_back(state.bytes.test(byte));
        const auto [it, fresh] = classes.emplace(std::move(signature), classes.size());
        if (fresh) representative.push_back(static_cast<unsigned char>(byte));
        out.class_of_[byte] = static_cast<std::uint8_t>(it->second);
    }
    out.classes_ = classes.size();

    std::map<Automaton::Set, std::uint16_t> ids;
    std::vector<Automaton::Set> sets;
    const auto id_of = [&](const Automaton::Set& set) {
        const auto [it, fresh] = ids.emplace(set, static_cast<std::uint16_t>(sets.size()));
        if (fresh) sets.push_back(set);
        return it->second;
    };
    id_of({});
    // The first state is never shared: only there does ^ hold.
    sets.push_back(automaton.first());
    out.accepts_ = {false, automaton.accepts(sets[1], true)};
    for (std::size_t at = 0; at < sets.size(); ++at) {
        if (sets.size() > max_states) return fail(Errc::too_large, "needs too many states");
        const Automaton::Set current = sets[at];
        if (at > 1) out.accepts_.push_back(automaton.accepts(current, false));
        for (const unsigned char byte : representative) out.next_.push_back(id_of(automaton.step(current, byte)));
    }
    return out;
}

bool Pattern::matches(std::string_view text) const {
    std::size_t state = 1;
    for (const char c : text) {
        state = next_[state * classes_ + class_of_[static_cast<unsigned char>(c)]];
        if (state == 0) return false;
    }
    return accepts_[state];
}

}  // namespace fairlead::resource
