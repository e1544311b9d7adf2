-- works with: 1

-- It replaced create_plants_3, as 0010_timeline.sql does now.
