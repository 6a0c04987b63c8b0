// The same scenarios as simulator.cc's, and TCP's, over the protocol stacks and links of ns-3.
//
// Belongs here: a scenario's network and traffic in ns-3, and what is measured there. Does not: queues or protocols
// of our own. Compiles with ns-3 from 3.37 on.
//
// UDP: a packet has a tag with its number, and its acknowledgement has the same.
//
// TCP: a connection a flow, without Nagle's algorithm or delayed acknowledgements, so that a packet is a segment
// unless the congestion window or the send buffer makes it wait; then the bytes of packets of several sizes may share
// segments. NewReno in every version of ns-3. The delay of a packet ends when the receiver has read its last byte,
// its round trip when an acknowledgement of that byte is at the sender. At hops, a segment with payload counts as the
// packet of its first byte, also when it is sent anew, and an acknowledgement as the packet of the last byte it
// acknowledges; handshakes count at queues alone, where every packet does.
//
// Usage: ns3_simulator SCENARIO RESULT
#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>

#include "ns3/config.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-list-routing-helper.h"
#include "ns3/ipv4-route.h"
#include "ns3/ipv4-routing-protocol.h"
#include "ns3/ipv4.h"
#include "ns3/node-container.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/ppp-header.h"
#include "ns3/simulator.h"
#include "ns3/socket.h"
#include "ns3/string.h"
#include "ns3/tcp-header.h"
#include "ns3/tcp-socket-base.h"
#include "ns3/uinteger.h"
#include "scenario.h"

namespace {

using namespace network;
using ns3::MakeCallback;
using ns3::Packet;
using ns3::Ptr;
using ns3::Simulator;

constexpr int64_t kUdpHeaderBytes = 30;           // PPP 2, IP 20, UDP 8
constexpr uint16_t kServerPort = 9;
constexpr uint16_t kFirstClientPort = 10000;
constexpr size_t kClientPorts = 50000;
constexpr uint16_t kLargestUnit = 65535;          // no payload is cut into fragments
constexpr int64_t kHopLimit = 255;
constexpr uint32_t kBufferBytes = 1 << 20;
constexpr int64_t kHandshakeNs = 20'000'000;      // before a flow's first packet its connection is opened
constexpr int64_t kDrainNs = 4'000'000'000;       // after the last packet TCP is cut off: two doublings of its timer
constexpr int64_t kStreamLimit = int64_t{1} << 32;  // sequence numbers of a connection do not come again
constexpr uint32_t kFirstAddress = 0x0A000001;    // 10.0.0.1 is host 0

ns3::Ipv4Address address_of(int32_t host) { return ns3::Ipv4Address(kFirstAddress + static_cast<uint32_t>(host)); }
int32_t host_of(ns3::Ipv4Address address) { return static_cast<int32_t>(address.Get() - kFirstAddress); }
int64_t now() { return Simulator::Now().GetNanoSeconds(); }
ns3::Time until(int64_t time) { return ns3::NanoSeconds(std::max<int64_t>(0, time - now())); }

// The queues from one host to another, which data of a flow and acknowledgements of its reverse share.
class Paths {
  public:
    explicit Paths(const Scenario& s) : s_(s) {
        for (int64_t flow = 0; flow < s.flows; flow++) {
            int32_t from = s.flow_sources[flow], to = s.flow_destinations[flow];
            add(from, to, {&s.routes[flow * s.route_length], s.route_length});
            add(to, from, {&s.ack_routes[flow * s.ack_route_length], s.ack_route_length});
        }
    }
    // The queue of a node on the way; -1: the way does not go there.
    int32_t queue_in(int32_t node, int32_t from, int32_t to) const {
        auto found = paths_.find(key(from, to));
        if (found == paths_.end()) return -1;
        for (int64_t hop = 0; hop < found->second.length && found->second.queues[hop] >= 0; hop++)
            if (s_.queue_sources[found->second.queues[hop]] == node) return found->second.queues[hop];
        return -1;
    }

  private:
    struct Path {
        const int32_t* queues;
        int64_t length;
        int32_t at(int64_t hop) const { return hop < length ? queues[hop] : -1; }
    };
    const Scenario& s_;
    std::unordered_map<uint64_t, Path> paths_;

    static uint64_t key(int32_t from, int32_t to) {
        return static_cast<uint64_t>(static_cast<uint32_t>(from)) << 32 | static_cast<uint32_t>(to);
    }
    void add(int32_t from, int32_t to, Path path) {
        const Path& known = paths_.emplace(key(from, to), path).first->second;
        for (int64_t hop = 0; hop < std::max(known.length, path.length); hop++) {
            if (known.at(hop) != path.at(hop)) fail("in ns-3 two flows between the same hosts must have one route");
            if (path.at(hop) < 0) return;
        }
    }
};

// Types of a method's arguments: ns-3 passes callbacks by value up to 3.37 and by reference later.
template <typename Method>
struct Arguments;
template <typename Class, typename Returned, typename... Types>
struct Arguments<Returned (Class::*)(Types...)> {
    template <size_t place>
    using at = std::tuple_element_t<place, std::tuple<Types...>>;
};
using RouteArguments = Arguments<decltype(&ns3::Ipv4RoutingProtocol::RouteInput)>;

// Sends every packet on along the path from its source to its destination.
class PathRouting : public ns3::Ipv4RoutingProtocol {
  public:
    static ns3::TypeId GetTypeId() {
        static ns3::TypeId id = ns3::TypeId("network::PathRouting").SetParent<ns3::Ipv4RoutingProtocol>();
        return id;
    }
    void join(const Paths& paths, int32_t node) {
        paths_ = &paths;
        node_ = node;
    }
    void add(int32_t queue, Ptr<ns3::NetDevice> device) {
        auto way = ns3::Create<ns3::Ipv4Route>();
        way->SetOutputDevice(device);
        way->SetSource(address_of(node_));
        way->SetGateway(ns3::Ipv4Address::GetBroadcast());  // ns-3 wants one, though a link has but one other end
        ways_[queue] = way;
    }
    Ptr<ns3::Ipv4Route> RouteOutput(Ptr<Packet>, const ns3::Ipv4Header& header, Ptr<ns3::NetDevice>,
                                    ns3::Socket::SocketErrno& error) override {
        auto way = find(node_, host_of(header.GetDestination()));
        error = way ? ns3::Socket::ERROR_NOTERROR : ns3::Socket::ERROR_NOROUTETOHOST;
        return way;
    }
    bool RouteInput(Ptr<const Packet> packet, const ns3::Ipv4Header& header, Ptr<const ns3::NetDevice> device,
                    RouteArguments::at<3> forward, RouteArguments::at<4>, RouteArguments::at<5> deliver,
                    RouteArguments::at<6>) override {
        int32_t to = host_of(header.GetDestination());
        if (to == node_) {
            deliver(packet, header, static_cast<uint32_t>(ip_->GetInterfaceForDevice(device)));
            return true;
        }
        auto way = find(host_of(header.GetSource()), to);
        if (!way) fail("a packet in ns-3 must stay on its route");
        forward(way, packet, header);
        return true;
    }
    void NotifyInterfaceUp(uint32_t) override {}
    void NotifyInterfaceDown(uint32_t) override {}
    void NotifyAddAddress(uint32_t, ns3::Ipv4InterfaceAddress) override {}
    void NotifyRemoveAddress(uint32_t, ns3::Ipv4InterfaceAddress) override {}
    void SetIpv4(Ptr<ns3::Ipv4> ip) override { ip_ = ip; }
    void PrintRoutingTable(Ptr<ns3::OutputStreamWrapper>, ns3::Time::Unit) const override {}

  private:
    const Paths* paths_ = nullptr;
    int32_t node_ = -1;
    Ptr<ns3::Ipv4> ip_;
    std::unordered_map<int32_t, Ptr<ns3::Ipv4Route>> ways_;

    Ptr<ns3::Ipv4Route> find(int32_t from, int32_t to) const {
        auto way = ways_.find(paths_->queue_in(node_, from, to));
        return way == ways_.end() ? nullptr : way->second;
    }
};

// What a packet on a link is to the scenario; packet -1: nothing that counts at hops.
struct Seen {
    int64_t packet;
    bool is_ack;
};

// The traffic of a scenario.
class Traffic {
  public:
    virtual ~Traffic() = default;
    virtual void start(const ns3::NodeContainer& nodes) = 0;
    virtual Seen identify(Ptr<const Packet> packet) const = 0;  // with all of its headers
};

// Watches one device's queue.
class QueueWatch {
  public:
    QueueWatch(const Scenario& s, Meter& meter, const Traffic& traffic, int32_t queue,
               Ptr<ns3::PointToPointNetDevice> device)
        : s_(s), meter_(meter), traffic_(traffic), queue_(queue), rate_(static_cast<uint64_t>(s.rates_bps[queue])) {
        device->TraceConnectWithoutContext("MacTx", MakeCallback(&QueueWatch::on_arrival, this));
        device->TraceConnectWithoutContext("MacTxDrop", MakeCallback(&QueueWatch::on_drop, this));
        device->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&QueueWatch::on_begin, this));
    }

  private:
    const Scenario& s_;
    Meter& meter_;
    const Traffic& traffic_;
    int32_t queue_;
    ns3::DataRate rate_;
    std::deque<int64_t> since_;  // of packets in the queue, as long as they are not on the link

    void on_arrival(Ptr<const Packet>) {
        meter_.arrived(now(), queue_);
        since_.push_back(now());
    }
    void on_drop(Ptr<const Packet> packet) {
        since_.pop_back();
        Seen seen = traffic_.identify(packet);
        if (counts(seen)) meter_.dropped(queue_, place(seen), seen.is_ack);
    }
    void on_begin(Ptr<const Packet> packet) {
        int64_t wait = now() - since_.front();
        since_.pop_front();
        Seen seen = traffic_.identify(packet);
        if (!counts(seen)) return;
        int64_t busy = rate_.CalculateBytesTxTime(packet->GetSize()).GetNanoSeconds();
        meter_.sent(queue_, place(seen), seen.is_ack, wait, busy);
    }
    bool counts(Seen seen) const { return seen.packet >= 0 && meter_.counts(seen.packet); }
    int64_t place(Seen seen) const {
        const std::vector<int32_t>& routes = seen.is_ack ? s_.ack_routes : s_.routes;
        int64_t length = seen.is_ack ? s_.ack_route_length : s_.route_length;
        int64_t first = s_.packet_flows[seen.packet] * length;
        for (int64_t at = first; at < first + length; at++)
            if (routes[at] == queue_) return at;
        fail("a packet in ns-3 must stay on its route");
    }
};

// Nodes and links, and a watch of every queue.
class Network {
  public:
    Network(const Scenario& s, Meter& meter, const Traffic& traffic)
        : s_(s), meter_(meter), traffic_(traffic), paths_(s), watches_(s.queues) {
        nodes.Create(static_cast<uint32_t>(s.nodes));
        ns3::InternetStackHelper stack;
        stack.SetRoutingHelper(ns3::Ipv4ListRoutingHelper());
        stack.SetIpv6StackInstall(false);
        stack.Install(nodes);
        for (int32_t node = 0; node < s.nodes; node++) {
            routings_.push_back(ns3::CreateObject<PathRouting>());
            routings_.back()->join(paths_, node);
            nodes.Get(node)->GetObject<ns3::Ipv4>()->SetRoutingProtocol(routings_.back());
        }
        link_all();
    }
    ns3::NodeContainer nodes;

  private:
    const Scenario& s_;
    Meter& meter_;
    const Traffic& traffic_;
    Paths paths_;
    std::vector<Ptr<PathRouting>> routings_;
    std::vector<std::unique_ptr<QueueWatch>> watches_;

    // Makes a link of every queue and the next one in the opposite direction that is not yet in a link.
    void link_all() {
        std::unordered_map<uint64_t, std::deque<int32_t>> alone;
        for (int32_t queue = 0; queue < s_.queues; queue++) {
            auto from = static_cast<uint64_t>(s_.queue_sources[queue]), to = static_cast<uint64_t>(s_.queue_targets[queue]);
            std::deque<int32_t>& others = alone[to << 32 | from];
            if (others.empty()) {
                alone[from << 32 | to].push_back(queue);
            } else {
                link(others.front(), queue);
                others.pop_front();
            }
        }
        for (const auto& [ends, queues] : alone)
            if (!queues.empty()) fail("a link in ns-3 must have two directions");
    }

    void link(int32_t one, int32_t other) {
        if (s_.rates_bps[one] != s_.rates_bps[other] || s_.delays_ns[one] != s_.delays_ns[other])
            fail("both directions of a link in ns-3 must have one rate and one delay");
        ns3::PointToPointHelper helper;
        helper.SetDeviceAttribute("DataRate", ns3::DataRateValue(ns3::DataRate(static_cast<uint64_t>(s_.rates_bps[one]))));
        helper.SetDeviceAttribute("Mtu", ns3::UintegerValue(kLargestUnit));
        helper.SetChannelAttribute("Delay", ns3::TimeValue(ns3::NanoSeconds(s_.delays_ns[one])));
        helper.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", ns3::StringValue(std::to_string(s_.capacity) + "p"));
        helper.DisableFlowControl();
        auto devices = helper.Install(nodes.Get(s_.queue_sources[one]), nodes.Get(s_.queue_targets[one]));
        attach(one, devices.Get(0));
        attach(other, devices.Get(1));
    }

    void attach(int32_t queue, Ptr<ns3::NetDevice> device) {
        int32_t node = s_.queue_sources[queue];
        auto ip = nodes.Get(node)->GetObject<ns3::Ipv4>();
        uint32_t interface = ip->AddInterface(device);
        if (node < s_.hosts) ip->AddAddress(interface, {address_of(node), ns3::Ipv4Mask::GetOnes()});
        ip->SetUp(interface);
        routings_[node]->add(queue, device);
        auto link_end = ns3::DynamicCast<ns3::PointToPointNetDevice>(device);
        watches_[queue] = std::make_unique<QueueWatch>(s_, meter_, traffic_, queue, link_end);
    }
};

// Number of a packet of the scenario, on it and on its acknowledgement.
class NumberTag : public ns3::Tag {
  public:
    explicit NumberTag(uint32_t packet = 0, bool is_ack = false) : packet(packet), is_ack(is_ack) {}
    uint32_t packet;
    bool is_ack;
    static ns3::TypeId GetTypeId() {
        static ns3::TypeId id = ns3::TypeId("network::NumberTag").SetParent<ns3::Tag>().AddConstructor<NumberTag>();
        return id;
    }
    ns3::TypeId GetInstanceTypeId() const override { return GetTypeId(); }
    uint32_t GetSerializedSize() const override { return 5; }
    void Serialize(ns3::TagBuffer buffer) const override {
        buffer.WriteU32(packet);
        buffer.WriteU8(is_ack);
    }
    void Deserialize(ns3::TagBuffer buffer) override {
        packet = buffer.ReadU32();
        is_ack = buffer.ReadU8() != 0;
    }
    void Print(std::ostream& out) const override { out << packet; }
};

class UdpTraffic : public Traffic {
  public:
    UdpTraffic(const Scenario& s, Result& result)
        : s_(s), result_(result), steps_(s), packets_of_(s.hosts), next_of_(s.hosts), sockets_(s.hosts) {
        if (s.header_bytes != kUdpHeaderBytes) fail("UDP in ns-3 must have headers of 30 bytes");
        for (int64_t packet = 0; packet < s.packets; packet++)
            if (steps_.has_own_time(packet))
                packets_of_[s.flow_sources[s.packet_flows[packet]]].push_back(static_cast<uint32_t>(packet));
    }
    void start(const ns3::NodeContainer& nodes) override {
        auto kind = ns3::TypeId::LookupByName("ns3::UdpSocketFactory");
        for (int32_t host = 0; host < s_.hosts; host++) {
            sockets_[host] = ns3::Socket::CreateSocket(nodes.Get(host), kind);
            sockets_[host]->Bind(ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), kServerPort));
            sockets_[host]->SetRecvCallback(MakeCallback(&UdpTraffic::receive, this));
            schedule_next(host);
        }
    }
    Seen identify(Ptr<const Packet> packet) const override {
        NumberTag tag;
        if (!packet->PeekPacketTag(tag)) return {-1, false};
        return {tag.packet, tag.is_ack};
    }

  private:
    const Scenario& s_;
    Result& result_;
    Steps steps_;
    std::vector<std::vector<uint32_t>> packets_of_;
    std::vector<size_t> next_of_;
    std::vector<Ptr<ns3::Socket>> sockets_;

    // A host's next packet is scheduled after the one before was handed down, as in simulator.cc.
    void schedule_next(int32_t host) {
        if (next_of_[host] == packets_of_[host].size()) return;
        Simulator::Schedule(until(s_.times_ns[packets_of_[host][next_of_[host]]]), &UdpTraffic::send_next, this, host);
    }
    void send_next(int32_t host) {
        send_data(packets_of_[host][next_of_[host]++]);
        schedule_next(host);
    }
    void send_data(uint32_t packet) {
        int32_t flow = s_.packet_flows[packet];
        send(s_.flow_sources[flow], s_.flow_destinations[flow], s_.payload_bytes[packet], NumberTag(packet));
    }
    void send(int32_t from, int32_t to, int64_t bytes, NumberTag tag) {
        auto packet = ns3::Create<Packet>(static_cast<uint32_t>(bytes));
        packet->AddPacketTag(tag);
        sockets_[from]->SendTo(packet, 0, ns3::InetSocketAddress(address_of(to), kServerPort));
    }
    void receive(Ptr<ns3::Socket> socket) {
        while (auto packet = socket->Recv()) {
            NumberTag tag;
            if (!packet->PeekPacketTag(tag)) continue;
            int64_t taken = now() - steps_.sent_ns[tag.packet];
            (tag.is_ack ? result_.rtts_ns : result_.delays_ns)[tag.packet] = taken;
            int32_t flow = s_.packet_flows[tag.packet];
            if (!tag.is_ack && s_.ack_bytes >= 0)
                send(s_.flow_destinations[flow], s_.flow_sources[flow], s_.ack_bytes, NumberTag(tag.packet, true));
            if (!tag.is_ack)
                for (int32_t next : steps_.released_by(tag.packet, now())) send_data(static_cast<uint32_t>(next));
        }
    }
};

// A flow's packets as a stream of bytes.
class Connection {
  public:
    // on_arrival: called with every packet that has arrived.
    Connection(const Scenario& s, Result& result, const Steps& steps, std::function<void(int64_t)> on_arrival)
        : s_(s), result_(result), steps_(steps), on_arrival_(std::move(on_arrival)) {}
    void add(int64_t packet) {
        packets_.push_back(packet);
        ends_.push_back((ends_.empty() ? 0 : ends_.back()) + s_.payload_bytes[packet]);
        if (s_.payload_bytes[packet] < 1) fail("a packet of TCP must have a payload");
        if (ends_.back() >= kStreamLimit) fail("a connection in ns-3 must carry less than 4 GiB");
    }
    bool is_empty() const { return packets_.empty(); }
    int64_t packet_of(int64_t byte) const {
        auto end = std::upper_bound(ends_.begin(), ends_.end(), byte);
        return end == ends_.end() ? -1 : packets_[static_cast<size_t>(end - ends_.begin())];
    }
    void start(Ptr<ns3::Socket> socket, ns3::InetSocketAddress server) {
        socket_ = socket;
        socket_->SetSendCallback(MakeCallback(&Connection::on_room, this));
        socket_->TraceConnectWithoutContext("Rx", MakeCallback(&Connection::on_segment, this));
        int64_t first = s_.times_ns[packets_[0]];
        Simulator::Schedule(until(first - kHandshakeNs), &Connection::open, this, server);
        if (steps_.has_own_time(packets_[0])) Simulator::Schedule(until(first), &Connection::send_next, this);
    }
    // The next packet of a step that begins.
    void release() {
        due_++;
        write();
    }
    void receive(Ptr<ns3::Socket> socket) {
        while (auto packet = socket->Recv()) read_bytes_ += packet->GetSize();
        while (read_ < ends_.size() && ends_[read_] <= read_bytes_) {
            end(result_.delays_ns, read_);
            on_arrival_(packets_[read_++]);
        }
    }

  private:
    const Scenario& s_;
    Result& result_;
    const Steps& steps_;
    std::function<void(int64_t)> on_arrival_;
    Ptr<ns3::Socket> socket_;
    std::vector<int64_t> packets_, ends_;  // ends: bytes of the stream up to the end of each
    size_t due_ = 0, written_ = 0, read_ = 0, acknowledged_ = 0;
    int64_t read_bytes_ = 0;

    void open(ns3::InetSocketAddress server) { socket_->Connect(server); }
    void send_next() {
        release();
        if (due_ < packets_.size() && steps_.has_own_time(packets_[due_]))
            Simulator::Schedule(until(s_.times_ns[packets_[due_]]), &Connection::send_next, this);
    }
    // Packets that the send buffer has no room for wait before it.
    void write() {
        while (written_ < due_) {
            auto bytes = static_cast<uint32_t>(s_.payload_bytes[packets_[written_]]);
            if (socket_->GetTxAvailable() < bytes) return;
            written_++;
            socket_->Send(ns3::Create<Packet>(bytes));
        }
    }
    void on_room(Ptr<ns3::Socket>, uint32_t) { write(); }
    // Byte 0 of the stream has sequence number 1.
    void on_segment(Ptr<const Packet>, const ns3::TcpHeader& header, Ptr<const ns3::TcpSocketBase>) {
        if (!(header.GetFlags() & ns3::TcpHeader::ACK)) return;
        int64_t bytes = static_cast<int64_t>(header.GetAckNumber().GetValue()) - 1;
        while (acknowledged_ < ends_.size() && ends_[acknowledged_] <= bytes) end(result_.rtts_ns, acknowledged_++);
    }
    void end(std::vector<int64_t>& times, size_t place) { times[packets_[place]] = now() - steps_.sent_ns[packets_[place]]; }
};

class TcpTraffic : public Traffic {
  public:
    TcpTraffic(const Scenario& s, Result& result) : s_(s), steps_(s), flows_of_(s.hosts) {
        auto on_arrival = [this](int64_t packet) {
            for (int32_t next : steps_.released_by(packet, now())) connections_[s_.packet_flows[next]].release();
        };
        for (int64_t flow = 0; flow < s.flows; flow++) {
            connections_.emplace_back(s, result, steps_, on_arrival);
            ports_.push_back(static_cast<uint16_t>(kFirstClientPort + flows_of_[s.flow_sources[flow]].size()));
            flows_of_[s.flow_sources[flow]].push_back(flow);
            if (flows_of_[s.flow_sources[flow]].size() > kClientPorts) fail("a host in ns-3 must have at most 50000 flows");
        }
        for (int64_t packet = 0; packet < s.packets; packet++) connections_[s.packet_flows[packet]].add(packet);
        set_defaults();
    }
    void start(const ns3::NodeContainer& nodes) override {
        auto kind = ns3::TypeId::LookupByName("ns3::TcpSocketFactory");
        for (int32_t host = 0; host < s_.hosts; host++) {
            auto server = ns3::Socket::CreateSocket(nodes.Get(host), kind);
            server->Bind(ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), kServerPort));
            server->Listen();
            server->SetAcceptCallback(ns3::MakeNullCallback<bool, Ptr<ns3::Socket>, const ns3::Address&>(),
                                      MakeCallback(&TcpTraffic::accept, this));
        }
        for (int64_t flow = 0; flow < s_.flows; flow++) {
            if (connections_[flow].is_empty()) continue;
            auto socket = ns3::Socket::CreateSocket(nodes.Get(s_.flow_sources[flow]), kind);
            socket->Bind(ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), ports_[flow]));
            connections_[flow].start(socket, {address_of(s_.flow_destinations[flow]), kServerPort});
        }
        if (s_.steps == 0) Simulator::Stop(ns3::NanoSeconds((s_.packets ? s_.times_ns.back() : 0) + kDrainNs));
    }
    Seen identify(Ptr<const Packet> packet) const override {
        ns3::PppHeader link;
        ns3::Ipv4Header ip;
        ns3::TcpHeader tcp;
        auto rest = packet->Copy();
        rest->RemoveHeader(link);
        rest->RemoveHeader(ip);
        rest->RemoveHeader(tcp);
        if (tcp.GetFlags() & ns3::TcpHeader::SYN) return {-1, false};
        if (tcp.GetDestinationPort() == kServerPort) {
            if (rest->GetSize() == 0) return {-1, false};
            int64_t byte = static_cast<int64_t>(tcp.GetSequenceNumber().GetValue()) - 1;
            return {connection(ip.GetSource(), tcp.GetSourcePort()).packet_of(byte), false};
        }
        int64_t bytes = static_cast<int64_t>(tcp.GetAckNumber().GetValue()) - 1;
        if (bytes < 1) return {-1, true};
        return {connection(ip.GetDestination(), tcp.GetDestinationPort()).packet_of(bytes - 1), true};
    }

  private:
    const Scenario& s_;
    Steps steps_;
    std::deque<Connection> connections_;  // of flows
    std::vector<uint16_t> ports_;         // of flows, at their sources
    std::vector<std::vector<int64_t>> flows_of_;

    const Connection& connection(ns3::Ipv4Address source, uint16_t port) const {
        return connections_[flows_of_[host_of(source)][port - kFirstClientPort]];
    }
    void set_defaults() const {
        const auto& payloads = s_.payload_bytes;
        uint32_t largest = payloads.empty() ? 1 : static_cast<uint32_t>(*std::max_element(payloads.begin(), payloads.end()));
        ns3::Config::SetDefault("ns3::TcpSocket::SegmentSize", ns3::UintegerValue(largest));
        ns3::Config::SetDefault("ns3::TcpSocket::TcpNoDelay", ns3::BooleanValue(true));
        ns3::Config::SetDefault("ns3::TcpSocket::DelAckCount", ns3::UintegerValue(1));
        ns3::Config::SetDefault("ns3::TcpSocket::SndBufSize", ns3::UintegerValue(kBufferBytes));
        ns3::Config::SetDefault("ns3::TcpSocket::RcvBufSize", ns3::UintegerValue(kBufferBytes));
        ns3::Config::SetDefault("ns3::TcpL4Protocol::SocketType", ns3::StringValue("ns3::TcpNewReno"));
    }
    void accept(Ptr<ns3::Socket> socket, const ns3::Address& peer) {
        auto client = ns3::InetSocketAddress::ConvertFrom(peer);
        int64_t flow = flows_of_[host_of(client.GetIpv4())][client.GetPort() - kFirstClientPort];
        socket->SetRecvCallback(MakeCallback(&Connection::receive, &connections_[flow]));
    }
};

void check(const Scenario& s) {
    if (s.capacity < 1) fail("a queue in ns-3 must have room for a packet");
    if (std::max(s.route_length, s.ack_route_length) >= kHopLimit) fail("a route in ns-3 must have less than 255 queues");
}

std::unique_ptr<Traffic> traffic_of(const Scenario& s, Result& result) {
    if (s.is_tcp) return std::make_unique<TcpTraffic>(s, result);
    return std::make_unique<UdpTraffic>(s, result);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) fail("usage: ns3_simulator SCENARIO RESULT");
    Scenario scenario = read_scenario(argv[1]);
    check(scenario);
    ns3::Config::SetDefault("ns3::Ipv4L3Protocol::DefaultTtl", ns3::UintegerValue(kHopLimit));
    Result result;
    Meter meter(scenario, result);
    std::unique_ptr<Traffic> traffic = traffic_of(scenario, result);
    Network network(scenario, meter, *traffic);
    traffic->start(network.nodes);
    Simulator::Run();
    result.events = static_cast<int64_t>(Simulator::GetEventCount());
    write_result(argv[2], result);
    Simulator::Destroy();
    return 0;
}
