from simfoundry.cli import main

main()
