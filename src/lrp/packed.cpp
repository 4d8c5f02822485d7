#include "lrp/packed.h"

#include <concepts>
#include <tuple>
#include <type_traits>

namespace fairlead::lrp {

namespace {

// The members of each struct, for both directions: one that is added and forgotten here does not compile.
template <class T, class Struct>
concept A = std::same_as<std::remove_const_t<T>, Struct>;

auto members(A<ProcessKey> auto& of) {
    auto& [scope, guid] = of;
    return std::tie(scope, guid);
}
auto members(A<Tag> auto& of) {
    auto& [epoch, index] = of;
    return std::tie(epoch, index);
}
auto members(A<HttpRoute> auto& of) {
    auto& [port, names, to_instances, ssl, http2, route_service, options, segment] = of;
    return std::tie(port, names, to_instances, ssl, http2, route_service, options, segment);
}
auto members(A<PortRoute> auto& of) {
    auto& [provider, transport, port, incoming, group, proxy_protocol] = of;
    return std::tie(provider, transport, port, incoming, group, proxy_protocol);
}
auto members(A<SkyRoute> auto& of) {
    auto& [port, host, priority, weight, ttl] = of;
    return std::tie(port, host, priority, weight, ttl);
}
auto members(A<Routes> auto& of) {
    auto& [http, ports, sky, problems, providers] = of;
    return std::tie(http, ports, sky, problems, providers);
}
// In the order of PackedDesired::Head.
auto members(A<Desired> auto& of) {
    auto& [key, name, uid, domain, app, instances, ports, routes, labels, tag] = of;
    return std::tie(key, tag, domain, instances, name, uid, app, ports, routes, labels);
}
auto members(A<MappedPort> auto& of) {
    auto& [container, host, host_tls] = of;
    return std::tie(container, host, host_tls);
}
auto members(A<Actual> auto& of) {
    auto& [process, index, evacuating, instance_guid, domain, running, crashed, address, ports, since, tag] = of;
    return std::tie(process, index, evacuating, instance_guid, domain, running, crashed, address, ports, since, tag);
}

template <class T>
concept Number = std::integral<T> || std::is_enum_v<T>;
template <class T>
concept Struct = requires(T& value) {
    members(value);
};

// Numbers in groups of seven bits, the lowest first, the high bit set on all but the last; before a text its bytes and
// before a list its elements as a number; an optional is a list of none or one.
class Writer {
public:
    Writer() { out_.reserve(usual_bytes); }

    void put(Number auto number) {
        auto left = static_cast<std::uint64_t>(number);
        for (; left >= 0x80; left >>= 7U) out_ += static_cast<char>(left | 0x80U);
        out_ += static_cast<char>(left);
    }
    void put(const std::string& text) {
        put(text.size());
        out_ += text;
    }
    void put(const Struct auto& value) {
        std::apply([this](const auto&... member) { (this->put(member), ...); }, members(value));
    }
    template <class T>
    void put(const std::optional<T>& value) {
        put(value.has_value());
        if (value) put(*value);
    }
    template <class T>
    void put(const std::vector<T>& list) {
        put(list.size());
        for (const auto& each : list) put(each);
    }
    template <class Value>
    void put(const std::map<std::string, Value>& map) {
        put(map.size());
        for (const auto& [key, value] : map) {
            put(key);
            put(value);
        }
    }
    [[nodiscard]] std::string_view bytes() const { return out_; }

private:
    static constexpr std::size_t usual_bytes = 512;
    std::string out_;
};

// Of what a Writer has written, and nothing else.
class Reader {
public:
    explicit Reader(std::string_view bytes) : left_(bytes) {}

    template <Number T>
    T number() {
        std::uint64_t value = 0;
        for (unsigned shift = 0;; shift += 7) {
            const auto byte = static_cast<std::uint8_t>(left_.front());
            left_.remove_prefix(1);
            value |= std::uint64_t{byte & 0x7fU} << shift;
            if (byte < 0x80) return static_cast<T>(value);
        }
    }
    std::string_view text() {
        const auto size = number<std::size_t>();
        const auto text = left_.substr(0, size);
        left_.remove_prefix(size);
        return text;
    }
    [[nodiscard]] std::string_view left() const { return left_; }

    template <Number T>
    void get(T& value) {
        value = number<T>();
    }
    void get(std::string& value) { value = text(); }
    void get(Struct auto& value) {
        std::apply([this](auto&... member) { (this->get(member), ...); }, members(value));
    }
    template <class T>
    void get(std::optional<T>& value) {
        if (number<bool>()) get(value.emplace());
    }
    template <class T>
    void get(std::vector<T>& list) {
        list.resize(number<std::size_t>());
        for (auto& each : list) get(each);
    }
    template <class Value>
    void get(std::map<std::string, Value>& map) {
        for (auto count = number<std::size_t>(); count > 0; --count) {
            const std::string key(text());
            get(map[key]);
        }
    }

private:
    std::string_view left_;
};

std::string written(const auto& value) {
    Writer writer;
    writer.put(value);
    return std::string(writer.bytes());  // without room to grow
}

template <class T>
T read(std::string_view bytes) {
    T value;
    Reader(bytes).get(value);
    return value;
}

}  // namespace

PackedDesired::PackedDesired(const Desired& desired) : bytes_(written(desired)) {}

PackedDesired::Head PackedDesired::head() const {
    Reader reader(bytes_);
    Head head;
    head.scope = reader.text();
    head.guid = reader.text();
    head.epoch = reader.text();
    head.version = reader.number<std::int64_t>();
    head.domain = reader.text();
    head.instances = reader.number<std::int32_t>();
    return head;
}

bool PackedDesired::is(const ProcessKey& key) const {
    Reader reader(bytes_);
    return reader.text() == key.scope && reader.text() == key.guid;
}

Desired PackedDesired::unpacked() const { return read<Desired>(bytes_); }

bool PackedDesired::same_but_tag(const PackedDesired& other) const {
    const auto after_tag = [](std::string_view bytes) {
        Reader reader(bytes);
        for (int text = 0; text < 3; ++text) (void)reader.text();  // scope, guid, epoch
        (void)reader.number<std::int64_t>();
        return reader.left();
    };
    return after_tag(bytes_) == after_tag(other.bytes_);
}

PackedActual::PackedActual(const Actual& actual) : bytes_(written(actual)) {}
Actual PackedActual::unpacked() const { return read<Actual>(bytes_); }

}  // namespace fairlead::lrp
